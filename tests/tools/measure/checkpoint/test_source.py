"""Range requests against a small server here: how much is fetched, what is refused, and where a token goes."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clouds.errors import InvalidInput, NotFound, PermissionMissing, Unexpected, Unreachable
from tools.measure.checkpoint.opening import open_checkpoint
from tools.measure.checkpoint.source import Http, Local, locate


class Server(ThreadingHTTPServer):
    """Serves a folder by ranges; remembers what was asked."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.folder, self.sent, self.tokens = folder, 0, []
        self.ranges, self.status, self.redirect = True, 0, ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    server: Any

    def do_GET(self) -> None:
        self.server.tokens.append(self.headers.get("Authorization", ""))
        path = self.server.folder / self.path.lstrip("/")
        if self.server.redirect:
            self.send_response(302)
            self.send_header("Location", self.server.redirect + self.path)
            self.end_headers()
            return
        if self.server.status or not path.is_file():
            self.send_error(self.server.status or 404)
            return
        data = path.read_bytes()
        first, last = (int(place) for place in self.headers["Range"].removeprefix("bytes=").split("-"))
        piece = data[first : last + 1]
        if self.server.ranges:
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{first + len(piece) - 1}/{len(data)}")
        else:
            piece = data
            self.send_response(200)
        self.send_header("Content-Length", str(len(piece)))
        self.end_headers()
        self.server.sent += len(piece)
        self.wfile.write(piece)

    def log_message(self, *args: Any) -> None: ...


@pytest.fixture
def serve() -> Iterator[Callable[[Path], Server]]:
    started = []

    def start(folder: Path) -> Server:
        server = Server(folder)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        started.append((server, thread))
        return server

    yield start
    for server, thread in started:
        server.shutdown()
        thread.join()
        server.server_close()


def test_only_the_headers_of_a_checkpoint_behind_a_url_are_fetched(
    serve: Callable[[Path], Server], tmp_path: Path, write: Callable[..., Path]
) -> None:
    write(tmp_path / "model.safetensors", {"model.layers.0.mlp.up_proj.weight": np.zeros((1000, 1000), "<u2")})
    server = serve(tmp_path)
    found = open_checkpoint(f"{server.url}/model.safetensors")
    assert [(each.name, each.size) for each in found.tensors] == [("model.layers.0.mlp.up_proj.weight", 2_000_000)]
    assert server.sent < 1000


def test_a_folder_behind_a_url_is_read_by_its_index_and_config(serve: Callable[[Path], Server], model: Path) -> None:
    remote = open_checkpoint(f"{serve(model).url}/")
    local = open_checkpoint(str(model))
    assert [each.name for each in remote.tensors] == [each.name for each in local.tensors]
    assert remote.config == local.config


def test_a_folder_without_an_index_falls_back_to_its_one_file(
    serve: Callable[[Path], Server], tmp_path: Path, write: Callable[..., Path]
) -> None:
    write(tmp_path / "model.safetensors", {"a": np.zeros(2, "<f4")})
    assert locate(f"{serve(tmp_path).url}/").name == "model.safetensors"


def test_a_server_without_ranges_is_never_read_whole(
    serve: Callable[[Path], Server], tmp_path: Path, write: Callable[..., Path]
) -> None:
    write(tmp_path / "model.safetensors", {"a": np.zeros(100_000, "<f4")})
    server = serve(tmp_path)
    server.ranges = False
    with pytest.raises(Unexpected, match="ignores range requests"):
        open_checkpoint(f"{server.url}/model.safetensors")


@pytest.mark.parametrize(
    ("status", "kind"), [(401, PermissionMissing), (403, PermissionMissing), (404, NotFound), (503, Unexpected)]
)
def test_refusals_are_told_apart(
    status: int, kind: type[Exception], serve: Callable[[Path], Server], tmp_path: Path
) -> None:
    server = serve(tmp_path)
    server.status = status
    with pytest.raises(kind, match=str(status)):
        open_checkpoint(f"{server.url}/model.safetensors")


def test_nobody_there_is_unreachable() -> None:
    with pytest.raises(Unreachable):
        open_checkpoint("http://127.0.0.1:9/model.safetensors")


def test_a_token_is_read_from_its_variable_and_not_taken_to_another_host(
    serve: Callable[[Path], Server],
    tmp_path: Path,
    write: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(tmp_path / "model.safetensors", {"a": np.zeros(2, "<f4")})
    front, store = serve(tmp_path), serve(tmp_path)
    front.redirect = store.url
    monkeypatch.setenv("HF_TOKEN", "s3cret")
    source = locate(f"{front.url}/model.safetensors", "HF_TOKEN")
    assert source.size > 0
    assert (front.tokens, store.tokens) == (["Bearer s3cret"], [""])
    assert "s3cret" not in repr(source)


def test_a_token_variable_that_is_not_set_is_said_before_anything_is_sent() -> None:
    with pytest.raises(InvalidInput, match="HF_TOKEN is not set"):
        locate("http://127.0.0.1:9/model.safetensors", "HF_TOKEN")


@pytest.mark.parametrize("variable", ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "PATH", "HF_TOKEN_2", "hf_token"])
def test_a_credential_of_something_else_is_never_sent(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "s3cret")
    with pytest.raises(InvalidInput, match="may not be sent") as caught:
        locate("http://127.0.0.1:9/model.safetensors", variable)
    assert "s3cret" not in str(caught.value)


def test_a_token_is_not_sent_over_plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "s3cret")
    with pytest.raises(InvalidInput, match="plain http"):
        locate("http://models.example/model.safetensors", "HF_TOKEN")


def test_the_page_of_a_model_is_its_files() -> None:
    assert Http("http://a/b/c.safetensors").beside("config.json") == Http("http://a/b/config.json")
    from tools.measure.checkpoint.source import _file_url

    assert _file_url("https://hub.example/google/gemma-4-E2B-it") == (
        "https://hub.example/google/gemma-4-E2B-it/resolve/main/"
    )
    for url in ("https://a.example/b/c.safetensors", "https://a.example/b/c/", "https://a.example/x/b/c"):
        assert _file_url(url) == url


@pytest.mark.parametrize("name", ["../a", "a/b", "..", "", "a\\b", "/etc/passwd"])
def test_a_name_that_leaves_its_folder_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        Local(tmp_path / "x").beside(name)
