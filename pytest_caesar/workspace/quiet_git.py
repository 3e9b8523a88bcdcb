"""Git over a checkout of the user's that runs nothing of anybody's."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_caesar.workspace.fifos import Fifos
from pytest_caesar.workspace.git import Git
from pytest_caesar.workspace.git_directory import GitFiles, private_git
from pytest_caesar.workspace.repository_state import Checkout, user_rules
from pytest_caesar.workspace.state_before import checkout_config, is_sparse, read_plain_file


@contextlib.contextmanager
def quiet_git(
    checkout: Checkout, settings: dict[str, str], *, index: Path | None = None
) -> Iterator[Git]:
    """Lend git over a checkout, with a configuration of our own making.

    Its settings are those that shape the user's files; its rules are the user's. It names
    no driver, no monitor and no remote, and reads nothing else: neither an include, nor
    a name with ``=`` or line breaks in it, nor a condition on a branch adds anything.

    Args:
        checkout: whose files, objects and rules.
        settings: its effective configuration.
        index: instead of the checkout's own.
    """
    with private_git(
        checkout_files(checkout, settings),
        top=checkout.top,
        index=index or checkout.git_dir / "index",
        objects=(checkout.objects,),
        fifos=Fifos(checkout.top, (checkout.common_dir,)),
    ) as git:
        yield git


def checkout_files(checkout: Checkout, settings: Mapping[str, str]) -> GitFiles:
    """Return what stands in a git directory that treats a checkout as the user's own does."""
    info = checkout.common_dir / "info"
    return GitFiles(
        config=checkout_config(
            settings,
            checkout.object_format,
            attributes=user_rules(settings, "core.attributesfile", checkout.top),
            excludes=user_rules(settings, "core.excludesfile", checkout.top),
        ),
        attributes=read_plain_file(os.path.realpath(info / "attributes")) or b"",
        excludes=read_plain_file(os.path.realpath(info / "exclude")) or b"",
        sparse=read_plain_file(checkout.git_dir / "info" / "sparse-checkout")
        if is_sparse(settings)
        else None,
        head=checkout.head,
    )
