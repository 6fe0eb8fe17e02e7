"""How generated values become bodies of media types that schemathesis does not know."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def json_lines(_context, value):
    lines = value if isinstance(value, list) else [value]
    return "\n".join(json.dumps(line) for line in lines).encode()
