"""Checkpoints: what is inside one by its headers alone, what a cast would cost, and a lossless 4-bit repack."""
