import type { HttpRequest, HttpResponse } from '@tollgate/http'
import { z } from 'zod'
import { toClientJson } from '../clients/client.ts'
import { createClients } from '../clients/manage.ts'
import { findNameProblem, findRedirectProblems } from '../clients/parse.ts'
import { splitRedirects } from '../clients/redirect-uris.ts'
import type { ServerContext } from '../context.ts'
import { NotFound } from '../errors.ts'
import type { GrantType } from '../grants/grant.ts'
import { readValidJson } from '../http/body.ts'
import { createPaginatedResponse } from '../http/page.ts'
import { emptyResponse, noStoreJsonResponse } from '../http/responses.ts'
import type { Client } from '../storage/records.ts'
import { requireSignedIn } from './signed-in.ts'

export const clientNameSchema = z
  .string({ error: 'The name field is required and must be a string.' })
  .superRefine((name, check) => {
    const problem = findNameProblem(name)
    if (problem) check.addIssue({ code: 'custom', message: problem })
  })

const redirectField = (issuer: string) =>
  z
    .string({ error: 'The redirect field is required and must be a string.' })
    .superRefine((redirect, check) => {
      const uris = splitRedirects(redirect)
      const problems =
        uris.length === 0 ? ['The redirect field is required.'] : findRedirectProblems(uris, issuer)
      for (const message of problems) check.addIssue({ code: 'custom', message })
    })

const changeSchema = ({ options }: ServerContext) =>
  z.object({ name: clientNameSchema, redirect: redirectField(options.issuer) })

const newSchema = (context: ServerContext) =>
  changeSchema(context).extend({
    confidential: z
      .boolean({ error: 'The confidential field must be true or false.' })
      .default(true),
    implicit: z
      .boolean({ error: 'The implicit field must be true or false.' })
      .refine((wanted) => !wanted || context.responses.has('token'), {
        error: 'This server does not offer the implicit flow.',
      })
      .default(false),
  })

/** Handles GET /oauth/clients. */
export async function handleClientList(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const person = await requireSignedIn(request, context)
  const clients = await createClients(context).listByUser(person.id)
  return createPaginatedResponse(request, clients, {
    at: ({ name, id }) => ({ by: name, id }),
    order: 'ascending',
    toJson: toClientJson,
  })
}

/**
 * Handles POST /oauth/clients. The client secret is returned only here and by the route that
 * rotates it.
 */
export async function handleClientCreation(
  request: HttpRequest,
  context: ServerContext,
): Promise<HttpResponse> {
  const person = await requireSignedIn(request, context)
  const { name, redirect, confidential, implicit } = await readValidJson(
    request,
    newSchema(context),
  )
  const grants: GrantType[] = ['authorization_code', 'refresh_token']
  if (implicit) grants.push('implicit')
  const input = { name, redirect, confidential, grants, userId: person.id }
  const { client, secret } = await createClients(context).create(input)
  return noStoreJsonResponse(
    { ...toClientJson(client), ...(secret === null ? {} : { secret }) },
    201,
  )
}

/** Handles PUT /oauth/clients/{client-id}. */
export async function handleClientUpdate(
  request: HttpRequest,
  context: ServerContext,
  id: string,
): Promise<HttpResponse> {
  const client = await requireOwn(request, context, id)
  const change = await readValidJson(request, changeSchema(context))
  const changed = await createClients(context).update(client.id, { ...change, by: 'owner' })
  return noStoreJsonResponse(toClientJson(changed))
}

/** Handles DELETE /oauth/clients/{client-id}: revokes the client and its tokens. */
export async function handleClientDeletion(
  request: HttpRequest,
  context: ServerContext,
  id: string,
): Promise<HttpResponse> {
  const client = await requireOwn(request, context, id)
  await createClients(context).revoke(client.id)
  return emptyResponse()
}

/**
 * Handles POST /oauth/clients/{client-id}/secret: creates a new secret. The old secret becomes
 * invalid immediately.
 */
export async function rotateClientSecret(
  request: HttpRequest,
  context: ServerContext,
  id: string,
): Promise<HttpResponse> {
  const own = await requireOwn(request, context, id)
  const { client, secret } = await createClients(context).rotateSecret(own.id)
  return noStoreJsonResponse({ ...toClientJson(client), secret })
}

/** Responds 404 to another person's client, exactly as to a missing one (threat M1). */
async function requireOwn(
  request: HttpRequest,
  context: ServerContext,
  id: string,
): Promise<Client> {
  const person = await requireSignedIn(request, context)
  const client = await context.clients.find(id)
  if (client?.userId !== person.id) throw new NotFound('There is no such client.')
  return client
}
