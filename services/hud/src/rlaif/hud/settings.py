"""Settings of the HUD."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from rlaif.service.settings import INTERNAL, ServiceSettings


class HudSettings(ServiceSettings):
    """Where the HUD listens and whom it serves."""

    model_config = SettingsConfigDict(env_prefix="HUD_")

    port: int = Field(
        default=8086, ge=0, le=65535, description="TCP port to listen on; 0 takes a free one."
    )
    max_clients: int = Field(default=128, ge=1, json_schema_extra=INTERNAL)
    """Connected pages; more get 503."""
    allowed_origins: tuple[str, ...] = Field(
        default=(),
        description="Public addresses of the page, and origins of other sites whose pages may open "
        'the live connection, such as ["https://hud.example.org"]. Requests for another name than '
        "those of machine and cluster are refused; https://* admits every name, where a router in "
        "front knows the names.",
    )
    judge_url: str = Field(
        default="http://127.0.0.1:8083",
        pattern=r"^https?://[^/?#@]+/?$",
        description="Where the judge service answers: what a label costs is asked of it.",
    )
    reward_model_url: str = Field(
        default="http://127.0.0.1:8084",
        pattern=r"^https?://[^/?#@]+/?$",
        description="Where the reward-model service answers: the page's models, their pins and "
        "roll-backs are asked of it. A write passes on the token that the person typed.",
    )
