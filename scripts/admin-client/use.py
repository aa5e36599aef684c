"""Uses the generated client: python use.py <input>, a JSON file with the document, the clients and
the people. The generated package is tollgate_admin beside the input."""

import datetime
import json
import os
import sys
import time
import uuid

import httpx

from responses import Responses, lines_of

with open(sys.argv[1]) as file:
    given = json.load(file)
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[1])))

from tollgate_admin import AuthenticatedClient
from tollgate_admin.api.audit import audit_export, audit_get, audit_head, audit_list, audit_verify
from tollgate_admin.api.billing import billing_list_plans, billing_list_subscriptions
from tollgate_admin.api.billing import billing_comp, billing_get_customer
from tollgate_admin.api.clients import clients_create, clients_get, clients_list, clients_update
from tollgate_admin.api.keys import keys_list
from tollgate_admin.api.mail import mail_list, mail_retry
from tollgate_admin.api.settings import settings_get, settings_get_overview
from tollgate_admin.api.teams import teams_delete, teams_get, teams_list
from tollgate_admin.api.teams import teams_list_subscriptions, teams_remove_member, teams_set_role
from tollgate_admin.api.users import users_create, users_disable, users_enable, users_get
from tollgate_admin.api.users import users_list, users_list_sessions, users_list_timeline
from tollgate_admin.api.users import users_list_tokens, users_sign_out
from tollgate_admin.api.webhooks import webhooks_list, webhooks_list_endpoints
from tollgate_admin.models import (
    Application,
    ApplicationWithSecret,
    AuditEntry,
    AuditLine,
    BillingCompBody,
    ClientsCreateBody,
    ClientsUpdateBody,
    MailListState,
    Problem,
    Team,
    TeamsDeleteBody,
    TeamsSetRoleBody,
    TeamsSetRoleBodyRole,
    User,
    UserOutcome,
    UserOutcomeState,
    UsersCreateBody,
    UsersDisableBody,
    WebhooksListState,
)
from tollgate_admin.types import UNSET

document = given["document"]
base_url = document["servers"][0]["url"]
responses = Responses(document)
started_at = datetime.datetime.now(datetime.timezone.utc)


def connect(client, scopes):
    """Gets a token at the address that the document names, and returns a client that sends it."""
    flow = document["components"]["securitySchemes"]["client"]["flows"]["clientCredentials"]
    unknown = set(scopes) - set(flow["scopes"])
    assert not unknown, f"The document does not list {unknown}"
    form = {"grant_type": "client_credentials", "scope": " ".join(scopes)}
    reply = httpx.post(flow["tokenUrl"], data=form, auth=(client["id"], client["secret"]))
    reply.raise_for_status()
    return with_token(reply.json()["access_token"])


def with_token(token):
    hooks = {"response": [responses.check]}
    return AuthenticatedClient(base_url, token=token, httpx_args={"event_hooks": hooks})


def succeed(response, expected, status=200):
    assert response.status_code == status, (response.status_code, response.content)
    assert isinstance(response.parsed, expected), response.parsed
    return response.parsed


def fail(response, status, name):
    assert response.status_code == status, (response.status_code, response.content)
    problem = response.parsed
    assert isinstance(problem, Problem), problem
    assert problem.type_.endswith(f"#{name}") and problem.status == status, problem
    assert problem.title and problem.detail, problem
    return problem


def all_pages(read):
    """Reads a list to its end."""
    entries, after, pages = [], UNSET, 0
    while after is not None:
        response = read(after)
        assert response.status_code == 200, response.content
        entries += response.parsed.data
        after = response.parsed.next_
        pages += 1
    return entries, pages


def people():
    users, pages = all_pages(
        lambda after: users_list.sync_detailed(client=full, after=after, limit=2)
    )
    assert all(isinstance(user, User) for user in users), users
    ids = [int(user.id) for user in users]
    assert ids == sorted(set(ids), reverse=True), ids
    assert set(given["people"]) < {user.email for user in users}, users
    assert pages == (len(users) + 1) // 2 and pages > 1, pages
    return f"lists {len(users)} people on {pages} pages"


def one_person():
    email = given["people"][0]
    (found,) = users_list.sync(client=full, email=email).data
    user = succeed(users_get.sync_detailed(found.id, client=full), User)
    assert user == found and user.email == email, user
    assert isinstance(user.created_at, datetime.datetime) and user.created_at.tzinfo, user
    assert user.disabled_at is None, user
    return "finds a person by e-mail address and reads the account"


def problems():
    fail(users_get.sync_detailed("999999999", client=full), 404, "not-found")
    person = users_list.sync(client=full, email=given["people"][0]).data[0].id
    fail(users_disable.sync_detailed(person, client=reader), 403, "forbidden")
    fail(users_get.sync_detailed(person, client=with_token("wrong")), 401, "unauthenticated")
    fail(users_list.sync_detailed(client=full, after="forged"), 400, "invalid-cursor")
    body = UsersCreateBody(email="no address", password="short")
    problem = fail(users_create.sync_detailed(client=full, body=body), 422, "invalid-input")
    assert set(problem.errors.additional_properties) == {"email", "password"}, problem
    return "reads the problems 400, 401, 403, 404 and 422, with errors by field"


def lock():
    person = users_list.sync(client=full, email=given["people"][1]).data[0].id
    disabled = users_disable.sync_detailed(person, client=full, body=UsersDisableBody())
    outcome = succeed(disabled, UserOutcome)
    assert outcome.state == UserOutcomeState.DISABLED, outcome
    assert isinstance(outcome.disabled_at, datetime.datetime), outcome
    outcome = succeed(users_enable.sync_detailed(person, client=full), UserOutcome)
    assert outcome.state == UserOutcomeState.ENABLED and outcome.disabled_at is None, outcome
    return "disables and enables an account"


def no_content():
    person = users_list.sync(client=full, email=given["people"][1]).data[0].id
    response = users_sign_out.sync_detailed(person, client=full)
    assert (response.status_code, response.parsed, response.content) == (204, None, b"")
    return "reads a response without content"


def repeats():
    key = str(uuid.uuid4())
    body = UsersCreateBody(email=f"{key}@example.com", password=uuid.uuid4().hex)
    create = lambda body: users_create.sync_detailed(client=full, body=body, idempotency_key=key)
    first, second = succeed(create(body), User, 201), succeed(create(body), User, 201)
    assert first == second, second
    body.name = "Another"
    fail(create(body), 422, "key-reused")
    return "sends an Idempotency-Key: a repeat gets the first response"


def dates():
    person = users_list.sync(client=full, email=given["people"][0]).data[0].id
    until = (started_at + datetime.timedelta(days=30)).replace(microsecond=0)
    response = billing_comp.sync_detailed(
        person, client=full, body=BillingCompBody(until=until), idempotency_key=str(uuid.uuid4())
    )
    assert response.status_code == 200 and response.parsed.until == until, response
    customer = billing_get_customer.sync(person, client=full)
    assert customer.free_until == until, customer
    return "sends and reads dates"


def versions():
    body = ClientsCreateBody(name="Reports", grants=["client_credentials"])
    made = succeed(clients_create.sync_detailed(client=full, body=body), ApplicationWithSecret, 201)
    assert made.secret, made
    read = clients_get.sync_detailed(made.id, client=full)
    application = succeed(read, Application)
    etag = read.headers["etag"]
    assert etag == f'"{application.version}"', etag
    update = lambda name, etag: clients_update.sync_detailed(
        made.id, client=full, body=ClientsUpdateBody(name=name), if_match=etag
    )
    changed = update("Monthly reports", etag)
    assert succeed(changed, Application).name == "Monthly reports"
    fail(update("Yearly reports", etag), 412, "stale")
    again = succeed(update("Yearly reports", changed.headers["etag"]), Application)
    assert again.name == "Yearly reports", again
    assert "if_match" in clients_update.sync_detailed.__annotations__
    return "changes an application with If-Match, and is told of a stale ETag"


def audit():
    read = lambda after: audit_list.sync_detailed(
        client=full, after=after, limit=3, operation="users.disable", from_=started_at
    )
    entries, _ = all_pages(read)
    assert all(isinstance(entry, AuditEntry) for entry in entries), entries
    assert [entry.outcome for entry in entries] == ["done", "started", "refused"], entries
    done, started, refused = entries
    assert done.intent_id == started.id and done.door == "api", done
    assert done.actor.id == given["full"]["id"], done
    assert refused.actor.id == given["reader"]["id"], refused
    assert succeed(audit_get.sync_detailed(done.id, client=full), AuditEntry).id == done.id
    return f"reads the audit log: {', '.join(entry.outcome for entry in reversed(entries))}"


def export():
    # A worker chains the entries after a few seconds.
    deadline = time.monotonic() + 120
    while audit_list.sync(client=full, limit=1).data[0].number is None:
        assert time.monotonic() < deadline, "The audit log was not chained"
        time.sleep(1)
    response = audit_export.sync_detailed(client=full)
    lines = [AuditLine.from_dict(line) for line in lines_of(response.parsed)]
    assert response.content.decode() == response.parsed, response.parsed
    numbers = [line.number for line in lines]
    assert numbers == list(range(1, len(lines) + 1)), numbers
    head = audit_head.sync(client=full).head
    verified = audit_verify.sync(client=full, known_number=head.number, known_hash=head.hash_)
    assert verified.intact and verified.complete, verified
    return f"exports {len(lines)} lines of the audit log, whose chain is intact"


def teams():
    person = users_list.sync(client=full, email=given["people"][0]).data[0].id
    found, _ = all_pages(
        lambda after: teams_list.sync_detailed(client=full, after=after, user_id=person, limit=1)
    )
    (team,) = found
    assert isinstance(team, Team) and team.name == given["team"], team
    assert isinstance(team.created_at, datetime.datetime) and team.provider is None, team
    (member,) = succeed(teams_get.sync_detailed(team.id, client=full), object).members
    assert member.user_id == person and member.role == "owner" and not member.disabled, member
    subscriptions = teams_list_subscriptions.sync_detailed(team.id, client=full)
    assert subscriptions.status_code == 200 and subscriptions.parsed.data == [], subscriptions
    fail(teams_get.sync_detailed(team.id, client=reader), 403, "forbidden")
    fail(teams_get.sync_detailed("nobody", client=full), 404, "not-found")
    role = TeamsSetRoleBody(role=TeamsSetRoleBodyRole.MEMBER)
    fail(teams_set_role.sync_detailed(team.id, person, client=full, body=role), 409, "conflict")
    fail(teams_remove_member.sync_detailed(team.id, person, client=full), 409, "conflict")
    # Needs a scope of its own, which this client does not have.
    fail(teams_delete.sync_detailed(team.id, client=full, body=TeamsDeleteBody()), 403, "forbidden")
    return "reads a team with its members, whose last owner stays"


def mail():
    for state in MailListState:
        response = mail_list.sync_detailed(client=full, state=state)
        assert response.status_code == 200 and response.parsed.data == [], response
    fail(mail_retry.sync_detailed(999999, client=full), 404, "not-found")
    fail(mail_list.sync_detailed(client=reader), 403, "forbidden")
    return "reads the queue of mail"


def everything_else():
    person = users_list.sync(client=full, email=given["people"][0]).data[0].id
    for response in [
        billing_list_plans.sync_detailed(client=full),
        billing_list_subscriptions.sync_detailed(client=full),
        clients_list.sync_detailed(client=full),
        keys_list.sync_detailed(client=full),
        settings_get.sync_detailed(client=full),
        settings_get_overview.sync_detailed(client=full, days=7),
        users_list_sessions.sync_detailed(person, client=full),
        users_list_timeline.sync_detailed(person, client=full),
        users_list_tokens.sync_detailed(person, client=full),
        webhooks_list.sync_detailed(client=full, state=WebhooksListState.DONE),
        webhooks_list_endpoints.sync_detailed(client=full),
    ]:
        assert response.status_code == 200, response.content
        assert not isinstance(response.parsed, Problem), response.parsed
    return "reads plans, subscriptions, applications, keys, settings, the overview and webhooks"


full = connect(given["full"], given["full"]["scopes"])
reader = connect(given["reader"], given["reader"]["scopes"])
for step in [
    people,
    one_person,
    problems,
    lock,
    no_content,
    repeats,
    dates,
    versions,
    audit,
    export,
    teams,
    mail,
    everything_else,
]:
    print(f"- the generated client {step()}", flush=True)
print(f"- {responses.count} responses of {len(responses.operations)} operations match the document")
