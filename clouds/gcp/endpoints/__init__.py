"""The ways to serve a model on Google Cloud: `tpu` (TPU API), `gce` (Compute Engine) and `run` (Cloud Run)."""
