"""What every cloud keeps to, over `clouds.names()`: no network, no credential, nothing left to guess."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import clouds
from clouds.base import Cloud, EndpointService, Missing

every = pytest.mark.parametrize("name", clouds.names())
PORTS = ("quotas", "capacity", "prices", "api", "waste")


@every
def test_a_cloud_connects_without_network_or_credential(name: str, tmp_path: Path) -> None:
    cloud = clouds.connect(name, tmp_path)
    assert isinstance(cloud, Cloud)
    assert cloud.name == name


@every
def test_an_absent_port_says_why(name: str, tmp_path: Path) -> None:
    cloud = clouds.connect(name, tmp_path)
    absent = [getattr(cloud, port) for port in PORTS if isinstance(getattr(cloud, port), Missing)]
    assert all(len(port.why) > 10 for port in absent)


@every
def test_every_service_has_the_whole_contract_and_names_its_settings(name: str, tmp_path: Path) -> None:
    wanted = {each for each, _ in inspect.getmembers(EndpointService, inspect.isfunction) if not each.startswith("_")}
    for word, service in clouds.connect(name, tmp_path).endpoints.items():
        assert word.isidentifier()
        assert {each for each in wanted if not callable(getattr(service, each, None))} == set()
        assert all(key and words for key, words in service.settings.items())


@every
def test_every_method_takes_what_the_contract_gives_it(name: str, tmp_path: Path) -> None:
    for service in clouds.connect(name, tmp_path).endpoints.values():
        for method, wanted in inspect.getmembers(EndpointService, inspect.isfunction):
            if method.startswith("_"):
                continue
            names = [each for each in inspect.signature(wanted).parameters if each != "self"]
            assert list(inspect.signature(getattr(service, method)).parameters)[: len(names)] == names


def test_a_name_that_is_no_cloud_has_no_folder_to_be_connected(tmp_path: Path) -> None:
    with pytest.raises(ModuleNotFoundError):
        clouds.connect("nowhere", tmp_path)
