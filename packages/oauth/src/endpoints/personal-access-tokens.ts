import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { z } from 'zod'
import { getPersonalAccessClient } from '../clients/manage.ts'
import type { ServerContext } from '../context.ts'
import { readValidJson } from '../http/body.ts'
import { createPaginatedResponse } from '../http/page.ts'
import { emptyResponse, noStoreJsonResponse } from '../http/responses.ts'
import { floorToSecond, SECONDS_PER_YEAR } from '../lifetimes.ts'
import {
  issuePersonalAccessToken,
  listPersonalAccessScopes,
  listPersonalAccessTokens,
} from '../tokens/personal-access.ts'
import { toTokenJson } from '../tokens/token-json.ts'
import { clientNameSchema } from './clients.ts'
import { requireSignedIn } from './signed-in.ts'
import { revokeOwnToken } from './tokens.ts'

const EXPIRES_IN = 'The expires_in field must be a whole number of seconds.'
/** A hundred years, the longest lifetime that a server can have. */
const MAX_SECONDS = 100 * SECONDS_PER_YEAR

/** Maximum number of unknown scopes listed in one response. */
const MAX_PROBLEMS = 20

/**
 * Validates the body and reports all problems together. `*` is not a defined scope, so it is
 * rejected too.
 */
const schemaFor = (allowed: ReadonlySet<string>, identity: ReadonlySet<string>) =>
  z.object({
    name: clientNameSchema,
    scopes: z
      .array(z.string({ error: 'Each scope must be a string.' }), {
        error: 'The scopes field is required and must be an array.',
      })
      .superRefine((scopes, check) => {
        const wrong = scopes.filter((name) => !allowed.has(name))
        for (const name of wrong.slice(0, MAX_PROBLEMS)) {
          const message = identity.has(name)
            ? `The scope '${name}' is about the person's identity and cannot be given to a personal access token.`
            : `The scope '${name.slice(0, 100)}' is not defined.`
          check.addIssue({ code: 'custom', message })
        }
      }),
    expires_in: z
      .number({ error: EXPIRES_IN })
      .int({ error: EXPIRES_IN })
      .min(1, { error: EXPIRES_IN })
      .max(MAX_SECONDS, { error: EXPIRES_IN })
      .nullish(),
  })

/** Handles GET /oauth/personal-access-tokens. */
export async function listPersonalTokens(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const person = await requireSignedIn(request, context)
  const client = await getPersonalAccessClient(context)
  const tokens = await listPersonalAccessTokens(person.id, context)
  return createPaginatedResponse(request, tokens, {
    at: (token) => ({ by: token.createdAt.getTime(), id: token.id }),
    order: 'descending',
    toJson: (token) => toTokenJson(token, client),
  })
}

/**
 * Handles POST /oauth/personal-access-tokens. Only this response contains the text of the token.
 */
export async function createPersonalToken(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  await requireSignedIn(request, context)
  const { identityScopes } = context.options
  const input = await readValidJson(
    request,
    schemaFor(listPersonalAccessScopes(context), identityScopes),
  )
  const look = async () => (await requireSignedIn(request, context)).id
  const { name, scopes, expires_in: seconds } = input
  const expiresAt = seconds ? inSeconds(seconds, context) : undefined
  const made = await issuePersonalAccessToken({ name, scopes, expiresAt }, look, context)
  const { accessToken, token, client } = made
  return noStoreJsonResponse({ accessToken, token: toTokenJson(token, client) }, 201)
}

/** Returns the expiry, in whole seconds like that of every token. */
function inSeconds(seconds: number, { clock }: ServerContext): Date {
  return floorToSecond(clock.now().getTime() + seconds * 1000)
}

/** Handles DELETE /oauth/personal-access-tokens/{token-id}. */
export async function deletePersonalToken(
  request: HttpRequest,
  context: ServerContext,
  id: string,
): Promise<HttpResponse> {
  const person = await requireSignedIn(request, context)
  await revokeOwnToken(id, person.id, 'personal_access', context)
  return emptyResponse()
}
