"""The streaming timing client, one for every cloud. Importing it imports no network library."""

from tools.measure.client.batch import Batch, Limits
from tools.measure.client.model_client import ModelClient
from tools.measure.client.reply import KINDS, NO_USAGE, Reply
from tools.measure.client.request import ChatRequest, Dialect
from tools.measure.client.share import Share

__all__ = ["KINDS", "NO_USAGE", "Batch", "ChatRequest", "Dialect", "Limits", "ModelClient", "Reply", "Share"]
