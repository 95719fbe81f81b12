"""A webhook receiver for Python without dependencies: PORT=9000 WEBHOOK_SECRET=whsec_... python3 receive.py

Responds with 204 to a genuine delivery that is at most five minutes old, and with 401 to all other requests.
"""

import hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, HTTPServer

AGE_SECONDS_MAX = 300


def is_genuine(header, body, secret):
    fields = [field.split("=", 1) for field in header.split(",") if "=" in field]
    signed_at = next((value for name, value in fields if name == "t"), "")
    if not (signed_at.isascii() and signed_at.isdigit() and abs(time.time() - int(signed_at)) <= AGE_SECONDS_MAX):
        return False
    digest = hmac.new(secret.encode(), signed_at.encode() + b"." + body, hashlib.sha256).hexdigest()
    signatures = [value.encode() for name, value in fields if name == "v1"]
    return any(hmac.compare_digest(each, digest.encode()) for each in signatures)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))  # the raw bytes: parse them after the check
        header = self.headers.get("X-Service-Signature", "")
        genuine = is_genuine(header, body, os.environ["WEBHOOK_SECRET"])
        self.send_response(204 if genuine else 401)
        self.end_headers()
        if genuine:
            print(json.loads(body), flush=True)


HTTPServer(("", int(os.environ["PORT"])), Receiver).serve_forever()
