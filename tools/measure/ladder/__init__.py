"""The quantization ladder: the same questions on every rung, compared question by question."""
