"""The process that owns one engine: it outlives the server, keeps the end, and writes down what it sees."""
