"""What pages may load, where their forms lead, and which features of the browser they use."""

from __future__ import annotations

from csp.constants import NONE, SELF

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "media-src": [SELF],
        "connect-src": [SELF],
        "font-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "object-src": [NONE],
        "frame-ancestors": [NONE],
    }
}
# Remove a feature from this list when a page uses it. Videos use fullscreen and picture-in-picture.
UNUSED_FEATURES = """accelerometer browsing-topics camera clipboard-read compute-pressure
    display-capture gamepad geolocation gyroscope hid identity-credentials-get idle-detection
    local-fonts magnetometer microphone midi otp-credentials payment publickey-credentials-create
    screen-wake-lock serial sync-xhr usb window-management
    xr-spatial-tracking"""
PERMISSIONS_POLICY = ", ".join(f"{name}=()" for name in UNUSED_FEATURES.split())
PERMISSIONS_POLICY += ", publickey-credentials-get=(self)"  # confirms dangerous actions on any page
# Of the pages that create passkeys.
PERMISSIONS_POLICY_WITH_PASSKEYS = PERMISSIONS_POLICY.replace(
    "publickey-credentials-create=()", "publickey-credentials-create=(self)"
)
# Of the one page that records samples of a voice.
PERMISSIONS_POLICY_WITH_MICROPHONE = PERMISSIONS_POLICY.replace(
    "microphone=()", "microphone=(self)"
)
