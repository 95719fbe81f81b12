"""Teaches schemathesis to write newline-delimited JSON: the document's schema is that of one line."""

import json

import schemathesis


@schemathesis.serializer("application/ndjson", "application/x-ndjson")
def lines(ctx, value):
    if isinstance(value, bytes):
        return value
    return json.dumps(value).encode() + b"\n"
