import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import {
  getOperationArea,
  getOperationScope,
  IRREVERSIBLE_SCOPE,
  listPaths,
  OPERATION_AREAS,
  type Operation,
  type OperationPath,
} from '../../admin/operation.ts'
import { findSchemaName, userId } from '../../admin/operations/fields.ts'
import { teamId } from '../../admin/operations/teams.ts'
import { PROBLEMS } from '../../service-error.ts'
import { sessionCookieName } from '../../sessions/sessions.ts'

type Json = Readonly<Record<string, unknown>>
type Schemas = Record<string, Json>

/** Describes the management API as an OpenAPI 3.1 document, from the operations alone. */
export function createOpenApi(url: string, operations: readonly Operation[]): Json {
  const paths: Record<string, Record<string, Json>> = {}
  const schemas: Schemas = { Problem }
  for (const operation of operations) {
    for (const at of listPaths(operation)) {
      const methods = paths[at.path] ?? {}
      methods[operation.route[0].toLowerCase()] = describeOperation(operation, at, schemas)
      paths[at.path] = methods
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate management API',
      version: '1',
      description:
        'Everything that an operator can do. Authenticate with the access token of a client that an owner registered for this API, or with the session of an operator.',
    },
    servers: [{ url: `${url}/admin/v1` }],
    tags: Object.entries(OPERATION_AREAS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        client: {
          type: 'oauth2',
          flows: {
            clientCredentials: {
              tokenUrl: `${url}/oauth/token`,
              scopes: describeScopesByOperation(operations),
            },
          },
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookieName(url.startsWith('https:')),
          description:
            'Session cookie of an operator. The browser sends it together with the other cookies of this service',
        },
        csrf: { type: 'apiKey', in: 'header', name: 'X-CSRF-TOKEN' },
      },
      schemas: sorted(schemas),
    },
  }
}

const Problem: Json = {
  type: 'object',
  description: 'Some problems have further members',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: {
      type: 'string',
      format: 'uri',
      description: `Ends with one of ${Object.keys(PROBLEMS).join(', ')}`,
    },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What was wrong, and what to do' },
    errors: {
      type: 'object',
      description: 'Texts by field',
      additionalProperties: { type: 'array', items: { type: 'string' } },
    },
  },
}

function describeScopesByOperation(operations: readonly Operation[]): Json {
  const usable = operations.filter(({ grantsPower }) => !grantsPower)
  const scopes = new Map(
    usable.map((each) => [getOperationScope(each), OPERATION_AREAS[getOperationArea(each)]]),
  )
  return Object.fromEntries([...scopes, [IRREVERSIBLE_SCOPE, 'irreversible operations']])
}

const OPERATOR = { session: [], csrf: [] }

/** The ids of owners in a path, by the type of the owner. */
const OWNER_IDS = { user: toInputSchema(userId), team: toInputSchema(teamId) }

function describeOperation(
  operation: Operation,
  { path, ownerType }: OperationPath,
  schemas: Schemas,
): Json {
  const { name, summary, description, role, effect, grantsPower = false } = operation
  const [method] = operation.route
  const input = toInputSchema(operation.input)
  const properties: Record<string, Json> = {
    ...(input.properties as Record<string, Json> | undefined),
    ...(ownerType !== null && { owner: OWNER_IDS[ownerType] }),
  }
  const required = (input.required ?? []) as readonly string[]
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, param = '']) => param)
  const others = Object.keys(properties).filter((param) => !inPath.includes(param))
  const isRead = method === 'GET'
  const scopes = [
    getOperationScope(operation),
    ...(effect === 'irreversible' ? [IRREVERSIBLE_SCOPE] : []),
  ]
  return {
    operationId: ownerType === 'team' ? name.replace(/^\w+\./, 'teams_') : name.replace('.', '_'),
    tags: [getOperationArea(operation)],
    summary,
    description: [description, `Operators need the role ${role}.`].filter(Boolean).join(' '),
    security: grantsPower ? [OPERATOR] : [{ client: scopes }, OPERATOR],
    parameters: [
      ...inPath.map((param) => parameter(param, 'path', properties[param] ?? {}, true)),
      ...(isRead
        ? others.map((param) =>
            parameter(param, 'query', properties[param] ?? {}, required.includes(param)),
          )
        : describeRequestHeaders(operation)),
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
      [operation.status ?? 200]: describeResponse(operation, schemas),
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

/** Describes the headers that a change accepts or requires. */
function describeRequestHeaders({
  needsKey = false,
  needsIfMatch = false,
}: Operation): readonly Json[] {
  const ifMatch = {
    name: 'If-Match',
    in: 'header',
    required: true,
    description:
      'ETag of the object as you last read it. If the object has changed since, the request fails with 412',
    schema: { type: 'string' },
  }
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    required: needsKey,
    description: 'For a day, repeated requests with the same key are performed only once',
    schema: { type: 'string', minLength: 1, maxLength: 200, pattern: '^[!-~]+$' },
  }
  return needsIfMatch ? [key, ifMatch] : [key]
}

function describeResponse({ status, output, line }: Operation, schemas: Schemas): Json {
  if (status === 204) return { description: 'Done' }
  const schema = toOutputSchema(line ?? output, schemas)
  if (line) {
    const text = {
      type: 'string',
      description: 'One JSON object per line',
      contentMediaType: 'application/jsonl',
      contentSchema: { type: 'array', items: schema },
    }
    return { description: 'Done', content: { 'application/jsonl': { schema: text } } }
  }
  return {
    description: 'Done',
    ...(hasVersion(output) && {
      headers: {
        ETag: {
          required: true,
          description: 'The version of the object, for If-Match',
          schema: { type: 'string' },
        },
      },
    }),
    content: { 'application/json': { schema } },
  }
}

/** Whether the response has an ETag. */
function hasVersion(output: z.ZodType): boolean {
  return output instanceof z.ZodObject && 'version' in output.shape
}

function toInputSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-2020-12',
    override: ({ jsonSchema }) => simplify(jsonSchema),
  })
  return json
}

/**
 * Describes a response. Named schemas are added to `schemas`, and the description refers to them.
 */
function toOutputSchema(schema: z.ZodType, schemas: Schemas): Record<string, unknown> {
  const found: Record<string, Json> = {}
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: 'output',
    target: 'draft-2020-12',
    override({ zodSchema, jsonSchema }) {
      simplify(jsonSchema)
      // A later version may add members, which must not break a strict client.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      const name = findName(zodSchema)
      if (name === undefined) return
      const { $ref: _, ...content } = jsonSchema
      const isCopy = findSchemaName(zodSchema) === undefined
      if (!isCopy) found[name] = content
      for (const member of Object.keys(jsonSchema)) delete jsonSchema[member]
      jsonSchema.$ref = `#/components/schemas/${name}`
      if (isCopy && content.description !== undefined) jsonSchema.description = content.description
    },
  })
  // The parts were changed until the end of the conversion.
  for (const [name, content] of Object.entries(structuredClone(found))) {
    const known = schemas[name]
    if (known && !isDeepStrictEqual(known, content)) {
      throw new TypeError(`Two different response schemas are named ${name}`)
    }
    schemas[name] = content
  }
  return json
}

/** Returns the name of a schema. A copy with another description keeps the name. */
function findName(schema: z.core.$ZodType): string | undefined {
  const { parent } = schema._zod
  return findSchemaName(schema) ?? (parent && findName(parent))
}

/** Removes keywords that tell a caller nothing, or that client generators misread. */
function simplify(schema: z.core.JSONSchema.BaseSchema): void {
  // The format says it in fewer characters.
  if (schema.format === 'date-time' || schema.format === 'date') delete schema.pattern
  if (schema.type === 'object') delete schema.propertyNames
  if (schema.type !== 'integer') return
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  // Some languages would take 32 bits.
  if ((schema.maximum ?? Number.MAX_SAFE_INTEGER) > MAX_INT32) schema.format = 'int64'
}

const MAX_INT32 = 2 ** 31 - 1

function sorted(schemas: Schemas): Schemas {
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
}
