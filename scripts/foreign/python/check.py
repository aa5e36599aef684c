"""Reads the tokens that a file names with Authlib and PyJWT, and signs in with Authlib."""

import json
import sys
import warnings

warnings.simplefilter("ignore")

import jwt
import requests
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from authlib.oauth2.rfc9068 import JWTBearerTokenValidator
from authlib.oauth2.rfc6750 import InvalidTokenError

with open(sys.argv[1]) as file:
    given = json.load(file)
issuer = given["issuer"]
metadata = requests.get(f"{issuer}/.well-known/openid-configuration").json()


def say(library, preset, name, action):
    result, detail = "accepted", ""
    try:
        action()
    except Exception as error:
        result, detail = "refused", " ".join(f"{type(error).__name__} {error}".split())
    print("\t".join([library, preset, name, result, detail]))


def each(library, preset, read):
    tokens = given["tokens"][preset]
    for name in ["good", "anotherAudience", "expired", "idToken", "tampered"]:
        say(library, preset, name, lambda: read(tokens[name], tokens["audience"]))


class Validator(JWTBearerTokenValidator):
    def get_jwks(self):
        return requests.get(metadata["jwks_uri"]).json()


def by_authlib(text, audience):
    validator = Validator(issuer=issuer, resource_server=audience)
    token = validator.authenticate_token(text)
    if token is None:
        raise InvalidTokenError()
    validator.validate_token(token, ["orders:read"], None)


keys = jwt.PyJWKClient(metadata["jwks_uri"])


def by_pyjwt(algorithm):
    def read(text, audience):
        key = keys.get_signing_key_from_jwt(text)
        jwt.decode(text, key, algorithms=[algorithm], audience=audience, issuer=issuer)

    return read


def sign_in():
    client = given["client"]
    session = OAuth2Session(
        client["client_id"],
        client["client_secret"],
        scope="openid email",
        redirect_uri=client["redirect_uri"],
        code_challenge_method="S256",
        token_endpoint=metadata["token_endpoint"],
    )
    verifier = "a-verifier-that-is-long-enough-for-anybody-1"
    address, state = session.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=verifier, nonce="nonce"
    )
    callback = requests.get(address, allow_redirects=False).headers["location"]
    tokens = session.fetch_token(
        authorization_response=callback, code_verifier=verifier, state=state
    )
    key = keys.get_signing_key_from_jwt(tokens["id_token"])
    claims = jwt.decode(
        tokens["id_token"], key, algorithms=["RS256"], audience=client["client_id"], issuer=issuer
    )
    assert claims["nonce"] == "nonce"
    assert session.get(metadata["userinfo_endpoint"]).json()["email"] == "ada@example.com"
    refreshed = session.refresh_token(metadata["token_endpoint"])
    assert refreshed["access_token"] != tokens["access_token"]
    assert session.introspect_token(
        metadata["introspection_endpoint"], token=refreshed["access_token"]
    ).json()["active"]
    session.revoke_token(metadata["revocation_endpoint"], token=refreshed["refresh_token"])
    assert session.get(metadata["userinfo_endpoint"]).status_code == 401


def by_key():
    """Authlib signs an assertion that is valid for an hour, unless told otherwise."""
    client = given["clients"]["key"]
    session = OAuth2Session(
        client["client_id"],
        client["private_key"],
        token_endpoint_auth_method="private_key_jwt",
        token_endpoint=metadata["token_endpoint"],
    )
    session.register_client_auth_method(PrivateKeyJWT(metadata["token_endpoint"]))
    assert session.fetch_token(grant_type="client_credentials", scope="orders:read")["access_token"]


each("Authlib, RFC 9068 validator", "default", by_authlib)
each("PyJWT", "default", by_pyjwt("ES256"))
each("PyJWT", "readByAll", by_pyjwt("RS256"))
say("Authlib, code flow, UserInfo, refresh, introspection, revocation", "-", "signIn", sign_in)
say("Authlib, private_key_jwt", "-", "signIn", by_key)
