"""Tool use: who counts what a tool returns, the tool or the model; and function calls graded by code."""
