"""A stand-in for a model's provider on this machine: free, and as unreliable as you like.

    python docs/examples/model_server.py --port 8765 --fail-share 0.5

Answers in the form of a chat. It cues in REM that has lasted three minutes, and not within four
minutes of a cue. A share of all questions fails with HTTP 500, chosen by theme, time of night and
stage: asking again does not help, and the same run fails in the same places.
"""

import argparse
import json
import threading
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def action(seen: dict) -> dict:
    minutes = seen.get("minutes_in_stage") or 0.0
    since = seen.get("minutes_since_cue")
    if seen.get("stage") != "rem":
        return {"kind": "wait", "reason": "no REM"}
    if minutes < 3 or (since is not None and since < 4):
        return {"kind": "wait", "reason": f"REM for {minutes:.1f} min: not yet"}
    return {"kind": "sound", "volume": "low", "reason": f"REM for {minutes:.1f} min"}


def chance(seed: int, seen: dict) -> float:
    place = f"{seed}/{seen.get('theme')}/{seen.get('clock_s')}/{seen.get('stage')}"
    return int(sha256(place.encode()).hexdigest()[:13], 16) / 16**13


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def do_POST(self) -> None:
        given = self.server.given
        text = self.rfile.read(int(self.headers.get("content-length", 0)))
        threading.Event().wait(given.delay)
        try:
            asked = json.loads(text)
            seen = json.loads(asked["messages"][-1]["content"])
            said = json.dumps(action(seen))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            return self.say(400, {"error": {"type": "invalid_request_error"}})
        if chance(given.seed, seen) < given.fail_share:
            return self.say(500, {"error": {"type": "overloaded_error"}})
        usage = {"input_tokens": len(text) // 4, "output_tokens": len(said) // 4}
        content = [{"type": "text", "text": said}]
        return self.say(200, {"model": asked.get("model"), "content": content, "usage": usage})

    def say(self, code: int, body: dict) -> None:
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        if code == 500:
            self.send_header("retry-after", "0")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed for each call."""


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--port", type=int, default=8765, help="0: any that is free")
    words.add_argument("--fail-share", type=float, default=0.0, help="of all questions, 0 to 1")
    words.add_argument("--seed", type=int, default=1, help="which questions fail")
    words.add_argument("--delay", type=float, default=0.0, help="seconds before each answer")
    server = ThreadingHTTPServer(("127.0.0.1", (given := words.parse_args()).port), Handler)
    server.daemon_threads, server.given = True, given
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
