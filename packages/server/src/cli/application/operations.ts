import type { Database } from '@tollgate/database'
import { z } from 'zod'
import type { AuditLog } from '../../admin/audit/log.ts'
import { createCursors } from '../../admin/cursor.ts'
import type { AdminServices } from '../../admin/execute.ts'
import type { Operation, OperationServices } from '../../admin/operation.ts'
import { ownerId, userId } from '../../admin/operations/fields.ts'
import { anyOwner, owner } from '../../admin/operations/owners.ts'
import { createRefusalTracker } from '../../admin/refusals.ts'
import { MACHINE_CLOCK } from '../lenient-audit.ts'
import { UsageError } from '../usage-error.ts'
import type { Application } from './load.ts'
import { requirePart } from './open.ts'

/**
 * Returns the services for an operation that uses nothing of the service but the audit log, and
 * possibly no database (`null`).
 */
export function createBareServices(database: Database | null, audit: AuditLog): AdminServices {
  const clock = database?.clock ?? MACHINE_CLOCK
  return {
    config: absent('settings'),
    database: database ?? absent('a database'),
    clock,
    users: absent('accounts'),
    teams: absent('teams'),
    sessions: absent('sessions'),
    limits: absent('rate limits'),
    recovery: absent('accounts'),
    factors: absent('second factors'),
    oauth: absent('the authorization server'),
    billing: absent('billing'),
    gate: null,
    audit,
    cursors: createCursors(['of an application']),
    // An application has no table of requests: billing itself recognizes a repeated key.
    requests: { once: (_request, work) => work(), purge: async () => 0 },
    refusals: createRefusalTracker(clock),
  }
}

/**
 * The services of operations on an application's own instances. Its users belong to the application,
 * so an operation only learns their ids; parts that only the service has cannot be used.
 */
export function createApplicationServices(
  application: Application,
  audit: AuditLog,
): AdminServices {
  const { file, database, oauth } = application
  const billing = () => requirePart(application, 'billing')
  return {
    ...createBareServices(database, audit),
    config: absent('settings', { given: new Set<string>() }),
    users: absent('accounts', { findAccount: async (id: string) => ({ id }) }),
    factors: absent('second factors', { reseal: async () => 0 }),
    oauth: (oauth ?? absent(`the export \`oauth\` in ${file}`)) as OperationServices['oauth'],
    billing: { provider: billing, rows: billing },
  }
}

/**
 * Returns a part that an application does not have: all of its members but `present` throw a
 * UsageError.
 */
function absent<Part extends object>(part: string, present: object = {}): Part {
  const get = (target: object, name: string | symbol) => {
    if (name in target) return Reflect.get(target, name)
    if (typeof name === 'symbol' || name === 'then') return undefined
    throw new UsageError(`This needs ${part}, and --config names an application without it`)
  }
  return new Proxy(present, { get }) as Part
}

/**
 * Returns the operation for the users and other owners of an application, whose ids may be UUIDs or
 * other texts. The operations of the service accept numbers, and teams, only.
 */
export function withOwnUserIds(operation: Operation): Operation {
  const { input } = operation
  if (!(input instanceof z.ZodObject)) return operation
  const changed = Object.entries(input.shape).flatMap(([name, schema]) => {
    const own = replaceUserId(schema as z.ZodType)
    return own === null ? [] : [[name, own]]
  })
  if (changed.length === 0) return operation
  return { ...operation, input: input.extend(Object.fromEntries(changed)) }
}

/** Returns the schema with ids of any application. `null` if it is not one of a user's id. */
function replaceUserId(schema: z.ZodType): z.ZodType | null {
  if (schema === userId) return ownerId
  if (schema === owner) return anyOwner
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) {
    const inner = replaceUserId(schema.unwrap() as z.ZodType)
    if (inner === null) return null
    return schema instanceof z.ZodNullable ? inner.nullable() : inner.optional()
  }
  return null
}
