import { z } from 'zod'
import { AREAS, areaOf, IRREVERSIBLE, type Operation, scopeOf } from '../../admin/operation.ts'
import { PROBLEMS } from '../../admin/problems.ts'

type Json = Readonly<Record<string, unknown>>

/** Describes the management API as an OpenAPI 3.1 document, from the operations alone. */
export function createOpenApi(url: string, operations: readonly Operation[]): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const operation of operations) {
    const [method, path] = operation.route
    const methods = paths[path] ?? {}
    methods[method.toLowerCase()] = describeOperation(operation)
    paths[path] = methods
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate management API',
      version: '1',
      description:
        'Every act of an operator. Authenticate with the access token of a client that an owner made for this API, or with the session of an operator.',
    },
    servers: [{ url: `${url}/admin/v1` }],
    tags: Object.entries(AREAS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        client: {
          type: 'oauth2',
          flows: {
            clientCredentials: { tokenUrl: `${url}/oauth/token`, scopes: scopesOf(operations) },
          },
        },
        session: { type: 'apiKey', in: 'header', name: 'X-CSRF-TOKEN' },
      },
      schemas: { Problem },
    },
  }
}

const Problem: Json = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string', description: `Ends with one of ${Object.keys(PROBLEMS).join(', ')}` },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    errors: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' } },
    },
  },
}

function scopesOf(operations: readonly Operation[]): Json {
  const usable = operations.filter(({ grantsPower }) => !grantsPower)
  const scopes = new Map(usable.map((each) => [scopeOf(each), AREAS[areaOf(each)]]))
  return Object.fromEntries([...scopes, [IRREVERSIBLE, 'what cannot be undone']])
}

function describeOperation(operation: Operation): Json {
  const { name, summary, description, role, effect, grantsPower = false, status } = operation
  const [method, path] = operation.route
  const input = toSchema(operation.input, 'input')
  const properties = (input.properties ?? {}) as Record<string, Json>
  const required = (input.required ?? []) as readonly string[]
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param)
  const others = Object.keys(properties).filter((param) => !inPath.includes(param))
  const isRead = method === 'GET'
  const hasContent = status !== 204
  const scopes = [scopeOf(operation), ...(effect === 'irreversible' ? [IRREVERSIBLE] : [])]
  return {
    operationId: name.replace('.', '_'),
    tags: [areaOf(operation)],
    summary,
    description: [description, `Operators need the role ${role}.`].filter(Boolean).join(' '),
    security: grantsPower ? [{ session: [] }] : [{ client: scopes }, { session: [] }],
    parameters: [
      ...inPath.map((param) => parameter(param, 'path', properties[param] ?? {}, true)),
      ...(isRead
        ? others.map((param) =>
            parameter(param, 'query', properties[param] ?? {}, required.includes(param)),
          )
        : [
            {
              name: 'Idempotency-Key',
              in: 'header',
              required: operation.needsKey ?? false,
              description: 'Performs the request once, however often it is sent, for a day',
              schema: { type: 'string', maxLength: 200 },
            },
          ]),
    ],
    ...(!isRead &&
      others.length > 0 && {
        requestBody: {
          required: others.some((param) => required.includes(param)),
          content: {
            'application/json': {
              schema: {
                type: 'object',
                additionalProperties: false,
                properties: Object.fromEntries(others.map((param) => [param, properties[param]])),
                required: required.filter((param) => others.includes(param)),
              },
            },
          },
        },
      }),
    responses: {
      [status ?? 200]: {
        description: 'Done',
        ...(hasContent && {
          content: operation.line
            ? { 'application/jsonl': { schema: toSchema(operation.line, 'output') } }
            : { 'application/json': { schema: toSchema(operation.output, 'output') } },
        }),
      },
      default: {
        description: 'A problem (RFC 9457)',
        content: {
          'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
        },
      },
    },
  }
}

function parameter(name: string, place: 'path' | 'query', schema: Json, required: boolean): Json {
  const { description, ...rest } = schema
  return { name, in: place, required, ...(description ? { description } : {}), schema: rest }
}

function toSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' })
  return json
}
