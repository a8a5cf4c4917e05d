"""Container images that nobody has pulled for long, in repositories without a rule that ends them."""

from __future__ import annotations

from datetime import timedelta

from clouds.aws.checks import words
from clouds.models.waste import Detail, Kind, Listing, Meter, Row, Seen, Waste, WasteCheck

REPOSITORIES = Listing("ecr", "DescribeRepositories", "repositories")
POLICY = Detail(
    REPOSITORIES,
    "ecr",
    "GetLifecyclePolicy",
    lambda rows, _at: {"repositoryName": rows[0]["repositoryName"]},
    nothing_on=("LifecyclePolicyNotFoundException",),
)
IMAGES = Detail(
    REPOSITORIES,
    "ecr",
    "DescribeImages",
    lambda rows, _at: {"repositoryName": rows[0]["repositoryName"]},
    rows="imageDetails",
)
REPOSITORY = Kind(
    name="ECR repository",
    of=REPOSITORIES,
    id=lambda row, _at: row["repositoryArn"],
    label=lambda row: row["repositoryName"],
    created=lambda row: row["createdAt"],
    tags_read=Detail(
        REPOSITORIES,
        "ecr",
        "ListTagsForResource",
        lambda rows, _at: {"resourceArn": rows[0]["repositoryArn"]},
        rows="tags",
        late=True,
    ),
    tags_of=words.tag_row,
)
DAYS = 90


def stale(image: Row, seen: Seen) -> bool:
    """Neither pushed nor pulled in 90 days, and no part or signature of another image."""
    if image.get("imageStatus", "ACTIVE") != "ACTIVE" or image.get("subjectManifestDigest"):
        return False
    if "notary" in image.get("artifactMediaType", "") or "cosign" in image.get("artifactMediaType", ""):
        return False
    last = image.get("lastRecordedPullTime") or image.get("imagePushedAt")
    return (
        words.older(seen, last, days=DAYS) is True and words.older(seen, image.get("imagePushedAt"), days=DAYS) is True
    )


def _stale_images(row: Row, seen: Seen) -> Waste | None:
    images = seen.of(IMAGES, row)
    if not images or seen.of(POLICY, row):
        return None
    old = [image for image in images if stale(image, seen)]
    if not old:
        return None
    sizes = [image.get("imageSizeInBytes") for image in old]
    size = 0.0 if None in sizes else sum(map(int, sizes)) / 1024**3
    untagged = sum(not image.get("imageTags") for image in old)
    return Waste(
        reason=f"{len(old)} of {words.many(len(images), 'image')} neither pushed nor pulled in {DAYS} days, "
        f"and no lifecycle rule ends them; {untagged} without a tag",
        meters=(Meter("ecr/storage", "GB-month", round(size, 9)),) if size else (),
        free=not size and None not in sizes,
        bound="at most",
        evidence={"stale images": len(old), "images": len(images), "untagged": untagged, "GB at most": round(size, 3)},
    )


STALE = WasteCheck(
    id="ecr-stale-images",
    title="Container images that nobody pulls",
    kind=REPOSITORY,
    reads=(POLICY, IMAGES),
    judge=_stale_images,
    why="Images are billed by what they store, until somebody or a rule deletes them.",
    spares=(
        "a lifecycle policy is set",
        "pushed or pulled in 90 days",
        "archived",
        "signatures and parts of other images",
    ),
    unchecked=(
        "what runs from an image that was pulled long ago: a task, a function, a model",
        "layers that images share, which are billed once: the size is an upper bound",
    ),
    meter="ECR storage GB-months of those images: an upper bound",
    min_age=timedelta(days=DAYS),
    remove="which tags are still deployed is not known here: set a lifecycle policy, whose preview shows what goes",
    reversal="cannot be undone",
    recovery="A deleted image can only be built again.",
    order=80,
)
CHECKS = (STALE,)
