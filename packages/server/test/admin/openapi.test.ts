import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { listPaths, type Operation } from '../../src/admin/operation.ts'
import { OPERATIONS, requireOperation } from '../../src/admin/operations/all.ts'
import { nameSchema } from '../../src/admin/operations/fields.ts'
import { createOpenApi } from '../../src/api/admin/openapi.ts'
import { sessionCookieName } from '../../src/sessions/sessions.ts'
import { startTestService, type TestService } from '../support.ts'
import { type AdminRequest, createOperatorHelpers } from './operators.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: Record<string, unknown>
}

interface Described {
  readonly operationId: string
  readonly parameters: readonly Parameter[]
  readonly security: readonly Record<string, readonly string[]>[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<
    Record<string, { headers?: Record<string, { required: boolean }>; content?: Content }>
  >
}

type Content = Readonly<Record<string, { readonly schema: Record<string, unknown> }>>

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Record<string, unknown>>>
    readonly securitySchemes: Readonly<Record<string, Record<string, unknown>>>
  }
}

const describeAt = (url: string) => createOpenApi(url, OPERATIONS) as unknown as Document
const document = describeAt('https://accounts.example')

function describedIn({ paths }: Document, { route: [method, path] }: Operation): Described {
  const found = paths[path]?.[method.toLowerCase()]
  if (!found) throw new Error(`${method} ${path} is not described`)
  return found
}

const described = OPERATIONS.map((operation) => ({
  operation,
  ...describedIn(document, operation),
}))

const headerOf = ({ parameters }: Pick<Described, 'parameters'>, header: string) =>
  parameters.find(({ name, in: place }) => place === 'header' && name === header)

/** Every value of a member with this name, at any depth. */
function membersNamed(name: string, value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => [
    ...(key === name ? [member] : []),
    ...membersNamed(name, member),
  ])
}

describe('the OpenAPI document of the management API', () => {
  it('describes each operation once, with a unique operationId', () => {
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    expect(ids.length).toBe(OPERATIONS.flatMap(listPaths).length)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[a-z]+_[a-zA-Z]+$/)
  })

  it('declares exactly the parameters of each path, all required and with a schema', () => {
    for (const { operation, parameters } of described) {
      const [, path] = operation.route
      const declared = parameters.filter((parameter) => parameter.in === 'path')
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect(declared.map(({ name }) => name)).toEqual(inPath)
      for (const { name, required, schema } of declared) {
        expect([path, name, required]).toEqual([path, name, true])
        expect(schema.type, `${path} ${name}`).toMatch(/^(string|integer)$/)
      }
    }
  })

  it('declares no parameter of an operation twice', () => {
    for (const { operationId, parameters } of described) {
      const keys = parameters.map(({ name, in: place }) => `${place} ${name}`)
      expect(new Set(keys).size, operationId).toBe(keys.length)
    }
  })

  it('refers only to schemas that exist, and contains no unused schema', () => {
    const refs = new Set(membersNamed('$ref', document))
    const schemas = Object.keys(document.components.schemas)
    expect([...refs].sort()).toEqual(schemas.map((name) => `#/components/schemas/${name}`).sort())
    expect(membersNamed('$defs', document)).toEqual([])
    expect(membersNamed('$schema', document)).toEqual([])
  })

  it('cannot be generated if two different schemas have the same name', () => {
    const [first, second] = [z.strictObject({ a: z.string() }), z.strictObject({ b: z.string() })]
    const outputs = [nameSchema('Twice', first), nameSchema('Twice', second)]
    const operations = outputs.map((output) => ({ ...requireOperation('users.get'), output }))
    expect(() => createOpenApi('https://accounts.example', operations)).toThrow('Twice')
    expect(() => createOpenApi('https://accounts.example', operations.slice(1))).not.toThrow()
  })

  it('describes the content of every response except for those with 204', () => {
    for (const { operation, operationId, responses } of described) {
      const { output, status = 200, line } = operation
      expect(Object.keys(responses), operationId).toEqual([String(status), 'default'])
      expect(status === 204, operationId).toBe(output instanceof z.ZodNull)
      const { content } = responses[status] ?? {}
      const type = line ? 'application/jsonl' : 'application/json'
      expect(content && Object.keys(content), operationId).toEqual(
        status === 204 ? undefined : [type],
      )
      if (content) expect(content[type]?.schema, operationId).not.toEqual({})
      expect(responses.default?.content).toEqual({
        'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
      })
    }
  })

  it('allows additional members in responses, but not in requests', () => {
    const { schemas } = document.components
    expect(membersNamed('additionalProperties', schemas)).not.toContain(false)
    for (const { operationId, responses, requestBody } of described) {
      expect(membersNamed('additionalProperties', responses), operationId).not.toContain(false)
      const body = requestBody?.content['application/json']?.schema
      if (body) expect(body.additionalProperties, operationId).toBe(false)
    }
  })

  it('requires Idempotency-Key where the operation requires it, and allows it for every change', () => {
    for (const each of described) {
      const { operation } = each
      const isRead = operation.route[0] === 'GET'
      const expected = isRead ? undefined : (operation.needsKey ?? false)
      expect(headerOf(each, 'Idempotency-Key')?.required, each.operationId).toBe(expected)
    }
  })

  it('declares ETag for responses with a version, and requires If-Match for changes that check it', () => {
    const withTag = described.filter(({ responses }) => responses[200]?.headers?.ETag?.required)
    expect(withTag.map(({ operationId }) => operationId)).toContain('clients_get')
    const changes = described.filter((each) => headerOf(each, 'If-Match'))
    expect(changes.map(({ operationId }) => operationId)).toEqual(['clients_update'])
    for (const { operation } of changes) {
      const [, path] = operation.route
      expect(document.paths[path]?.get?.responses[200]?.headers?.ETag).toBeDefined()
    }
  })

  it('marks integers beyond 32 bits, and omits the long patterns of dates', () => {
    const { Money, User } = document.components.schemas
    expect(Money?.properties).toMatchObject({ amount: { type: 'integer', format: 'int64' } })
    const user = User?.properties as Record<string, object>
    const created = user.created_at
    expect(created).toMatchObject({ type: 'string', format: 'date-time' })
    expect(created).not.toHaveProperty('pattern')
  })

  it('requires scopes of a client, and a session with its CSRF token of an operator', () => {
    const { client, session, csrf } = document.components.securitySchemes
    const flows = client?.flows as Record<string, { readonly scopes: object }>
    const scopes = Object.keys(flows.clientCredentials?.scopes ?? {})
    for (const { operation, operationId, security } of described) {
      expect(security.at(-1), operationId).toEqual({ session: [], csrf: [] })
      const needed = security.flatMap((each) => each.client ?? [])
      expect(needed.length === 0, operationId).toBe(operation.grantsPower ?? false)
      for (const scope of needed) expect(scopes).toContain(scope)
    }
    expect(session).toMatchObject({ in: 'cookie', name: sessionCookieName(true) })
    expect(csrf).toMatchObject({ in: 'header', name: 'X-CSRF-TOKEN' })
    const local = describeAt('http://127.0.0.1:3000').components.securitySchemes
    expect(local.session).toMatchObject({ name: sessionCookieName(false) })
  })
})

describe('the responses of the management API', () => {
  let service: TestService
  let operators: ReturnType<typeof createOperatorHelpers>
  let owner: Awaited<ReturnType<typeof operators.operator>>
  beforeAll(async () => {
    service = await startTestService()
    operators = createOperatorHelpers(service)
    owner = await operators.operator('owner')
  })
  afterAll(() => service?.stop())

  /** Calls an operation and compares status, headers and content with what is declared. */
  async function callDeclared(
    name: string,
    params: Record<string, string> = {},
    { query = '', ...request }: AdminRequest & { readonly query?: string } = {},
  ) {
    const operation = requireOperation(name)
    const [method, path] = operation.route
    const filled = path.replace(/\{(\w+)\}/g, (_, param) => encodeURIComponent(params[param] ?? ''))
    const response = await owner.call(method, filled + query, request)
    expect(response.status, `${name}: ${JSON.stringify(response.body)}`).toBe(
      operation.status ?? 200,
    )
    expect(operation.output.safeParse(response.body).error, name).toBeUndefined()
    const { headers } = describedIn(document, operation).responses[response.status] ?? {}
    expect(response.headers.has('etag'), name).toBe(headers?.ETag !== undefined)
    return response
  }

  it('include the OpenAPI document, without credentials, with the URL of the service', async () => {
    const { body, status } = await operators.with({})('GET', '/openapi.json')
    expect(status).toBe(200)
    expect(body).toEqual(JSON.parse(JSON.stringify(describeAt(service.url))))
    expect(body.servers).toEqual([{ url: `${service.url}/admin/v1` }])
  })

  it('match the declared schemas for everything that can be read without a parameter', async () => {
    await operators.person()
    const required: Record<string, string> = {
      'webhooks.list': '?state=done',
      'webhooks.listDeliveries': '?state=pending',
      'billing.findInvoices': '?number=unknown',
      'billing.listPrices': '?provider=stripe',
      'billing.listCoupons': '?provider=braintree',
      'billing.listPromotionCodes': '?provider=stripe',
    }
    const plain = OPERATIONS.filter(
      ({ route: [method, path], line }) => method === 'GET' && !path.includes('{') && !line,
    )
    expect(plain.length).toBeGreaterThan(10)
    for (const { name } of plain) await callDeclared(name, {}, { query: required[name] ?? '' })
  })

  it('match the declared schemas for reading and changing a person', async () => {
    const { id } = await operators.person()
    for (const name of OPERATIONS.flatMap(({ name, line, route: [method, path] }) =>
      method === 'GET' && !line && /^\/users\/\{id\}(\/[\w-]+)?$/.test(path) ? [name] : [],
    )) {
      await callDeclared(name, { id })
    }
    await callDeclared('users.disable', { id }, { body: {} })
    await callDeclared('users.enable', { id })
    await callDeclared('users.signOut', { id })
    await callDeclared('users.resetFactors', { id })
    await callDeclared('users.setRole', { id }, { body: { role: 'viewer' } })
    await callDeclared('users.delete', { id }, { body: {} })
  })

  it('match the declared schemas and ETags for an application', async () => {
    const body = { name: 'Reports', grants: ['client_credentials'] }
    const { id } = (await callDeclared('clients.create', {}, { body })).body
    const etag = (await callDeclared('clients.get', { id })).headers.get('etag') ?? ''
    const missing = await owner.call('PATCH', `/clients/${id}`, { body: { name: 'New' } })
    expect(missing).toMatchObject({ status: 428 })
    const headers = { 'if-match': etag }
    await callDeclared('clients.update', { id }, { body: { name: 'New' }, headers })
    await callDeclared('clients.rotateSecret', { id }, { body: {} })
    await callDeclared('clients.endPreviousSecret', { id })
    await callDeclared('clients.revoke', { id })
  })

  it.each([
    ['audit.export', () => '/audit/export?personal=true'],
    ['users.export', (id: string) => `/users/${id}/export`],
  ] as const)('match the declared schema for a line of %s', async (name, pathOf) => {
    const { id } = await operators.person()
    await callDeclared('users.signOut', { id })
    await service.auditChain.process()
    const { line } = requireOperation(name)
    const response = await owner.browser.request(`/admin/v1${pathOf(id)}`, {
      headers: { origin: service.url, 'x-csrf-token': await owner.browser.csrfToken() },
    })
    expect(response.headers.get('content-type')).toBe('application/jsonl')
    const lines = (await response.text()).trim().split('\n')
    expect(lines.length).toBeGreaterThan(0)
    for (const text of lines) expect(line?.safeParse(JSON.parse(text)).error).toBeUndefined()
  })

  it('accept a date with a time zone offset, which many generated clients send', async () => {
    const { id } = await operators.person()
    const until = new Date(service.clock.now().getTime() + 30 * 86_400_000)
    const withOffset = until.toISOString().replace('Z', '+00:00')
    const headers = { 'idempotency-key': `comp-${id}` }
    const { body } = await callDeclared(
      'billing.comp',
      { owner: id },
      { body: { until: withOffset }, headers },
    )
    expect(body.until).toBe(until.toISOString())
    const read = async (from: string) =>
      (await callDeclared('audit.list', {}, { query: `?from=${encodeURIComponent(from)}` })).body
    const past = '2020-01-01T02:00:00'
    const found = await read(`${past}+02:00`)
    expect(found.data.length).toBeGreaterThan(0)
    expect(found.data).toEqual((await read('2020-01-01T00:00:00Z')).data)
    expect((await owner.call('GET', `/audit/entries?from=${past}`)).status).toBe(422)
  })
})
