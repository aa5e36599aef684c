import { createLoggerAudit } from '../admin/audit/log.ts'
import { execute } from '../admin/execute.ts'
import type { Operation } from '../admin/operation.ts'
import { operationNamed } from '../admin/operations/all.ts'
import { maintenanceOperations } from '../admin/operations/maintenance.ts'
import { createAdminServices } from '../admin/services.ts'
import { createLogger } from '../logger.ts'
import type { BillingAccess } from '../users/end-account.ts'
import type { CommandContext } from './command.ts'
import { type CoreOptions, type OpenCore, withCore } from './open.ts'
import { withBillingAccess } from './open-billing.ts'

/** The parts of the service, and the operations on them. */
export interface OpenOperations extends OpenCore {
  /** Billing, as the operations use it. It processes nothing in the background. */
  readonly billing: BillingAccess
  /**
   * Performs an operation in the name of the person at the terminal, and records it in the audit
   * log. `Output` is the JSON of the operation's output schema. Operations that move money need
   * `idempotencyKey`.
   * @throws AdminProblem
   */
  perform<Output = unknown>(name: string, input: object, idempotencyKey?: string): Promise<Output>
}

interface OperationsOptions extends CoreOptions {
  /**
   * Whether the operations work on webhooks, which arrive at the address of the service.
   * @default false
   */
  readonly needsUrl?: boolean
}

/**
 * Opens the database like `withCore()`, and runs `work` with the operations. The database of an
 * application has no audit log; its entries are written to standard error instead, one line of JSON
 * each.
 */
export function withOperations<T>(
  context: CommandContext,
  options: OperationsOptions,
  work: (opened: OpenOperations) => Promise<T>,
): Promise<T> {
  const { needsUrl = false } = options
  return withCore(context, options, (core) =>
    withBillingAccess(context, { ...core, needsUrl }, (billing) => {
      const { database, found } = core
      const { clock } = database
      const services = createAdminServices({ ...core, clock, billing })
      const logger = createLogger('info', process.stderr)
      const audit = found === 'application' ? createLoggerAudit(logger, clock) : services.audit
      return work({
        ...core,
        billing,
        async perform<Output>(name: string, input: object, idempotencyKey?: string) {
          // A command reads no version that could be stale by now.
          const call = {
            caller: context.caller,
            input,
            ifMatch: '*',
            idempotencyKey: idempotencyKey ?? null,
          }
          return (await execute(findOperation(name), call, { ...services, audit })) as Output
        },
      })
    }),
  )
}

function findOperation(name: string): Operation {
  return maintenanceOperations.find((each) => each.name === name) ?? operationNamed(name)
}
