"""nginx as a plain reverse proxy with connections that are kept, from a configuration of its own."""

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

from processes import start

CONFIGURATION = """daemon off; worker_processes {workers}; pid {folder}/nginx.pid; error_log stderr; {user}
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 100000000; client_max_body_size 16m; client_body_buffer_size 4m;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; proxy_max_temp_file_size 0;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream echo {{ server {upstream}; keepalive 128; keepalive_requests 100000000; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://echo; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
"""


def serve(folder: str, upstream: str) -> tuple[subprocess.Popen, str]:
    """Starts nginx in front of a host and port; also its URL."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if program is None:
        raise SystemExit("nginx is missing; `scripts/setup-bench.sh` installs it")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    configuration = Path(folder, "nginx.conf")
    # The folder is this user's alone; only root's nginx would change to another user.
    user = "user root;" if os.geteuid() == 0 else ""
    configuration.write_text(
        CONFIGURATION.format(folder=folder, upstream=upstream, port=port, workers=os.cpu_count(), user=user)
    )
    process = start([program, "-e", "stderr", "-p", folder, "-c", str(configuration)])
    for _ in range(100):
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return process, f"http://127.0.0.1:{port}/mcp"
        if process.poll() is not None:
            raise SystemExit(f"nginx did not start:\n{process.stderr.read()}")
        time.sleep(0.05)
    raise SystemExit("nginx did not listen within 5 s")
