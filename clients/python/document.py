"""A host inside a private network on which a client is described: a metadata document over TLS, by a certificate authority of
its own.

Usage: python document.py FOLDER

Writes the authority's certificate to FOLDER/ca.pem, prints one line of JSON with the document's URL, and serves until its
standard input ends.
"""

from __future__ import annotations

import datetime
import ipaddress
import json
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

HOST = "localhost"
PEM = serialization.Encoding.PEM


def certificate(name: str, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.timezone.utc)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=1))
    )


def certify(folder: Path) -> ssl.SSLContext:
    """A certificate for the host, and the authority's, which is all that anybody gets to see of it."""
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    authority_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of a test")])
    uses = {"content_commitment": False, "key_encipherment": False, "data_encipherment": False, "key_agreement": False}
    uses |= {"encipher_only": False, "decipher_only": False, "crl_sign": False}
    authority = (
        certificate("Authority of a test", authority_name, authority_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(digital_signature=False, key_cert_sign=True, **uses), critical=True)
        .sign(authority_key, hashes.SHA256())
    )
    names = x509.SubjectAlternativeName([x509.DNSName(HOST), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    own = (
        certificate(HOST, authority_name, key)
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(digital_signature=True, key_cert_sign=False, **uses), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    (folder / "ca.pem").write_bytes(authority.public_bytes(PEM))
    chain = folder / "host.pem"
    plain = serialization.NoEncryption()
    chain.write_bytes(key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, plain) + own.public_bytes(PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    chain.unlink()
    return context


class Document(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        document = {
            "client_id": f"https://{HOST}:{self.server.server_address[1]}{self.path}",
            "client_name": "A client of this house",
            "redirect_uris": ["http://127.0.0.1/callback"],
            "grant_types": ["authorization_code", "refresh_token"],
        }
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


class Server(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Whoever does not believe the certificate ends the connection."""


def main() -> None:
    context = certify(Path(sys.argv[1]))
    server = Server(("127.0.0.1", 0), Document)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"url": f"https://{HOST}:{server.server_address[1]}/desk.json"}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
