import type { z } from 'zod'
import type { ProblemName } from '../service-error.ts'
import type { Caller } from './audit/caller.ts'
import type { AuditDescription } from './audit/described.ts'
import { authorize } from './authorize.ts'
import { hashCallerKey, type IdempotentRequests } from './idempotency.ts'
import type { Operation, OperationServices } from './operation.ts'
import { AdminProblem, type FieldProblems } from './problems.ts'
import type { RefusalTracker } from './refusals.ts'
import { toProblem } from './to-problem.ts'

/**
 * The services that `execute()` needs: those of the operations, the stored idempotent requests, and
 * the record of refusals.
 */
export interface AdminServices extends OperationServices {
  readonly requests: IdempotentRequests
  readonly refusals: RefusalTracker
}

/** One call of an operation. */
export interface OperationInvocation {
  readonly caller: Caller
  /** The input as it was received. */
  readonly input: unknown
  /** `Idempotency-Key` of the request. */
  readonly idempotencyKey?: string | null
  /** `If-Match` of the request. */
  readonly ifMatch?: string | null
}

/**
 * Performs an operation: checks the permission and the input, runs it, and writes the audit entry.
 * The pages, the API and the commands all call this function; nothing else runs an operation.
 * @throws AdminProblem if the operation is refused, or fails in a way that the caller should know
 * about
 */
export async function execute(
  operation: Operation,
  call: OperationInvocation,
  services: AdminServices,
): Promise<unknown> {
  const { caller } = call
  const { audit, clock, refusals } = services
  try {
    authorize(operation, caller.actor, clock.now())
  } catch (error) {
    // Attempts to read are refused without a line, and repeated ones get few, or a script could fill
    // the log.
    const isNoted = operation.effect !== 'read' && error instanceof AdminProblem
    if (isNoted && refusals.isNew(caller.actor, operation.name)) {
      await audit.add({
        caller,
        operation: operation.name,
        outcome: 'refused',
        described: {},
        reason: error.problem,
      })
    }
    throw error
  }
  const input = parseInput(operation.input, call.input)
  if (operation.needsKey && (call.idempotencyKey ?? null) === null) {
    throw new AdminProblem(
      'precondition-required',
      `${operation.name} moves money: send an Idempotency-Key, and reuse it if you retry the request.`,
    )
  }
  if (operation.effect === 'read') return run(operation, input, call, services)
  return operation.commits === 'in-steps'
    ? performInSteps(operation, input, call, services)
    : performTogether(operation, input, call, services)
}

/**
 * Validates the input and returns the parsed value.
 * @throws AdminProblem `invalid-input` that names every wrong field
 */
export function parseInput(schema: z.ZodType, rawInput: unknown): unknown {
  const unstorable = findUnstorable(rawInput)
  if (unstorable !== null) {
    throw invalidInput(
      new Map([
        [
          unstorable || 'body',
          ['Contains a character or name that cannot be stored, or is nested too deeply.'],
        ],
      ]),
    )
  }
  const parsed = schema.safeParse(rawInput)
  if (parsed.success) return parsed.data
  // The names come from the caller, who may send `constructor`.
  const fields = new Map<string, string[]>()
  for (const { path, message, ...issue } of parsed.error.issues) {
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys : null
    for (const name of unknown ?? [path.join('.') || 'body']) {
      const text = unknown ? 'Unknown field.' : message
      fields.set(name, [...(fields.get(name) ?? []), text])
    }
  }
  throw invalidInput(fields)
}

function invalidInput(fields: ReadonlyMap<string, readonly string[]>): AdminProblem {
  const names = [...fields.keys()].join(', ').slice(0, LONGEST_NAMES)
  return new AdminProblem('invalid-input', `Check these fields: ${names}.`, {
    fields: Object.fromEntries(fields) satisfies FieldProblems,
  })
}

const LONGEST_NAMES = 1000
/** Maximum nesting depth of an input. No operation needs as much. */
const DEEPEST = 16

/**
 * Returns the path of the first value that must be rejected: a text that some databases cannot
 * store (a NUL, or half of a surrogate pair), a member `__proto__`, or a value that is nested too
 * deeply. `null` if there is none.
 */
function findUnstorable(value: unknown, path = '', depth = 0): string | null {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0') ? null : path
  if (typeof value !== 'object' || value === null) return null
  if (depth === DEEPEST) return path
  for (const [name, member] of Object.entries(value)) {
    const within = path === '' ? name : `${path}.${name}`
    if (name === '__proto__' || findUnstorable(name) !== null) return within.toWellFormed()
    const found = findUnstorable(member, within, depth + 1)
    if (found !== null) return found
  }
  return null
}

async function run(
  operation: Operation,
  input: unknown,
  { caller, ifMatch = null, idempotencyKey: key = null }: OperationInvocation,
  services: AdminServices,
): Promise<unknown> {
  const { actor } = caller
  const repeatKey = key === null ? null : hashCallerKey(actor, key)
  try {
    return await operation.run(input, { ...services, actor, ifMatch, repeatKey })
  } catch (error) {
    throw toProblem(error)
  }
}

function describe(operation: Operation, input: unknown, result: unknown): AuditDescription {
  return operation.describe?.(input, result) ?? {}
}

/** Runs `work` once for the idempotency key of the call, if it has one. */
function runOncePerKey(
  operation: Operation,
  input: unknown,
  { caller, idempotencyKey: key = null }: OperationInvocation,
  { requests }: AdminServices,
  work: () => Promise<unknown>,
): Promise<unknown> {
  if (key === null) return work()
  const isRepeatable = operation.needsKey ?? false
  const request = { actor: caller.actor, key, operation: operation.name, input, isRepeatable }
  return requests.once(request, work, operation.forRepeats?.bind(operation))
}

/**
 * Runs the operation, and writes its entry and the stored response in the same transaction: either
 * everything takes effect or nothing does.
 */
async function performTogether(
  operation: Operation,
  input: unknown,
  call: OperationInvocation,
  services: AdminServices,
): Promise<unknown> {
  const entry = { caller: call.caller, operation: operation.name }
  const { audit, database } = services
  try {
    return await database.unitOfWork(() =>
      runOncePerKey(operation, input, call, services, async () => {
        const result = await run(operation, input, call, services)
        const described = describe(operation, input, result)
        await audit.add({ ...entry, outcome: 'done', described })
        return result
      }),
    )
  } catch (error) {
    const problem = toProblem(error)
    if (shouldRecordFailure(problem)) {
      const described = describe(operation, input, null)
      await audit.add({ ...entry, outcome: 'failed', described, reason: problem.problem })
    }
    throw problem
  }
}

/**
 * Runs an operation in steps. The intent is recorded before the first step; the entry with the
 * outcome refers to it.
 */
function performInSteps(
  operation: Operation,
  input: unknown,
  call: OperationInvocation,
  services: AdminServices,
): Promise<unknown> {
  const entry = { caller: call.caller, operation: operation.name }
  const { audit } = services
  return runOncePerKey(operation, input, call, services, async () => {
    const intent = { ...entry, described: describe(operation, input, null) }
    const intentId = await audit.add({ ...intent, outcome: 'started' })
    let result: unknown
    try {
      result = await run(operation, input, call, services)
    } catch (error) {
      const { problem: reason } = toProblem(error)
      await audit.add({ ...intent, outcome: 'failed', intentId, reason })
      throw error
    }
    const described = describe(operation, input, result)
    await audit.add({ ...entry, outcome: 'done', described, intentId })
    return result
  })
}

/** Whether a failed change is recorded in the log. It is not if only the request was wrong. */
function shouldRecordFailure({ problem }: AdminProblem): boolean {
  const harmless: readonly ProblemName[] = [
    'not-found',
    'invalid-input',
    'precondition-required',
    'stale',
    'key-reused',
    'request-in-progress',
    'unavailable',
  ]
  return !harmless.includes(problem)
}
