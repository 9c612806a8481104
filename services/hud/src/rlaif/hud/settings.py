"""Settings of the HUD."""

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from rlaif.service.settings import INTERNAL, ServiceSettings


class HudSettings(ServiceSettings):
    """Settings of the HUD."""

    model_config = SettingsConfigDict(env_prefix="HUD_")

    port: int = Field(
        default=8086, ge=0, le=65535, description="TCP port to listen on; 0 selects a free one."
    )
    max_clients: int = Field(default=128, ge=1, json_schema_extra=INTERNAL)
    """Maximum number of connected pages; more get 503."""
    allowed_origins: tuple[str, ...] = Field(
        default=(),
        description="Public addresses of the page, and origins of other sites whose pages may open "
        'the live connection, such as ["https://hud.example.org"]. Requests with another Host than '
        "those of machine and cluster are rejected; https://* allows all, if a router checks them.",
    )
    judge_url: str = Field(
        default="http://127.0.0.1:8083",
        pattern=r"^https?://[^/?#@]+/?$",
        description="Address of the judge service, for the cost of labels.",
    )
    reward_model_url: str = Field(
        default="http://127.0.0.1:8084",
        pattern=r"^https?://[^/?#@]+/?$",
        description="Address of the reward-model service, for the page's models. Writes forward "
        "the user's token.",
    )
