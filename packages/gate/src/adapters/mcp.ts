import type { HttpResponse } from '@tollgate/http'
import type { Gate } from '../gate.ts'
import type { Subject } from '../subject.ts'
import type { RefusalReason } from '../verdict.ts'
import { type Admission, createChecks, type GateChecks } from './checks.ts'

export type { Admission, AdmitOptions, GateChecks } from './checks.ts'

/** The last argument that the official MCP SDK passes to a tool, as far as the gate reads it. */
export interface ToolCallContext {
  /** The token, as it was given to the transport. */
  readonly authInfo?: {
    readonly clientId: string
    readonly scopes: readonly string[]
    readonly extra?: Readonly<Record<string, unknown>>
  }
  /** Aborted when the client cancels the call. */
  readonly signal?: AbortSignal
}

/** A refused call of a tool. */
export interface ToolRefusal {
  /** Why it was refused. `unavailable` if the database cannot be reached. */
  readonly reason: RefusalReason | 'unavailable'
  /** A sentence for the person. Ends with the link to other plans, if there is one. */
  readonly message: string
  /** Page where a person can change to another plan. `null` if the gate has none. */
  readonly upgradeUrl: string | null
}

/** Wraps the handler of a tool in a check. */
export type ToolWrapper = <Handler extends (...args: never[]) => unknown>(
  handler: Handler,
) => Handler

/** Options of `forMcp()`. */
export interface McpGateOptions {
  /** Returns who pays for the call, such as the user of the token. */
  readonly subjectOf: (context: ToolCallContext) => Subject | Promise<Subject>
  /**
   * Creates an error to throw for a refused call, so that the response is a JSON-RPC error.
   * `McpServer` passes on only `UrlElicitationRequiredError`; a `Server` passes on every error with a
   * `code`.
   * @default the response is a tool result with `isError` and the message
   */
  readonly toError?: (refusal: ToolRefusal) => Error
}

/** The checks of a gate for the tools of an MCP server. */
export interface McpChecks<MeterName extends string> extends GateChecks<ToolWrapper, MeterName> {
  /**
   * Returns the admission of a call, for the handler of a tool.
   * @throws TypeError outside of `admit()`
   */
  admissionOf(context: object): Admission
}

/**
 * Creates the checks of a gate for tools of the official MCP SDK. Each check wraps the handler of a
 * tool, so only `tools/call` counts. A refused call gets a result that a person can read.
 * @example
 * const { admit } = forMcp(gate, { subjectOf: () => ({ type: 'user', id: userId }) })
 * server.registerTool('list_notes', { description: 'All notes' }, admit('calls')(() => listNotes()))
 */
export function forMcp<MeterName extends string>(
  gate: Gate<MeterName>,
  { subjectOf, toError }: McpGateOptions,
): McpChecks<MeterName> {
  const admissions = new WeakMap<object, Admission>()

  function refuse(response: HttpResponse) {
    const refusal = toRefusal(response)
    if (toError) throw toError(refusal)
    return { content: [{ type: 'text', text: refusal.message }], isError: true }
  }

  const checks = createChecks<ToolWrapper, MeterName>(gate, (check) => (handler) => {
    const run = handler as unknown as (...args: readonly unknown[]) => unknown
    const checked = async (...args: readonly unknown[]) => {
      // The SDK calls a handler with the arguments of the tool, if it has any, and the context. Its
      // type depends on the tool, which a wrapper for all tools cannot express: hence the two casts.
      const context = args.at(-1) as ToolCallContext
      const { refusal, admission, finish } = await check(await subjectOf(context))
      if (refusal) return refuse(refusal)
      if (admission) admissions.set(context, admission)
      const end = (status: number) => finish(context.signal?.aborted ? null : status)
      try {
        const result = await run(...args)
        end((result as { isError?: boolean } | null)?.isError ? 500 : 200)
        return result
      } catch (error) {
        end(500)
        throw error
      }
    }
    return checked as unknown as typeof handler
  })

  return {
    ...checks,
    admissionOf(context) {
      const admission = admissions.get(context)
      if (admission) return admission
      throw new TypeError('admissionOf() needs the context of a call of a tool inside admit()')
    },
  }
}

/** The problem document of a refusal. */
interface Problem {
  readonly title: string
  readonly reason?: RefusalReason
  readonly plan?: string
  readonly missing?: readonly string[]
  readonly resets_at?: string
  readonly upgrade_url?: string
}

function toRefusal({ body, headers }: HttpResponse): ToolRefusal {
  const problem = JSON.parse(String(body)) as Problem
  const url = problem.upgrade_url ?? null
  const link = url === null ? '' : ` Other plans: ${url}`
  return {
    reason: problem.reason ?? 'unavailable',
    message: `${describe(problem, String(headers['retry-after'] ?? ''))}${link}`,
    upgradeUrl: url,
  }
}

function describe(problem: Problem, retryAfter: string): string {
  const { title, reason, plan, missing = [], resets_at: resetsAt } = problem
  const names = missing.join(', ')
  if (reason === 'quota_used_up') {
    const until = resetsAt ? ` until ${resetsAt.slice(0, 16).replace('T', ' ')} UTC` : ''
    return `The quota of ${names} of the plan ${plan} is used up${until}.`
  }
  if (reason === 'too_fast') return `Too many calls. Try again in ${retryAfter} seconds.`
  if (reason === 'plan_required') return `This needs the plan ${missing.join(' or ')}.`
  if (reason) return `The plan ${plan} does not include ${names}.`
  return `${title}. Try again in ${retryAfter} seconds.`
}
