import type { Billing } from '@tollgate/billing'
import type { Gate } from '@tollgate/gate'
import type { Logger } from 'pino'
import { createLoggerAudit } from '../admin/audit/log.ts'
import { type AdminServices, execute } from '../admin/execute.ts'
import type { Operation } from '../admin/operation.ts'
import { requireOperation } from '../admin/operations/all.ts'
import { maintenanceOperations } from '../admin/operations/maintenance.ts'
import { createAdminServices } from '../admin/services.ts'
import { createServiceGate } from '../gate.ts'
import { createLogger } from '../logger.ts'
import { createRecovery } from '../recovery/recovery.ts'
import type { BillingAccess } from '../users/end-account.ts'
import { createApplicationAudit } from './application/audit.ts'
import { withApplication } from './application/open.ts'
import { createApplicationServices, withOwnUserIds } from './application/operations.ts'
import type { CommandContext } from './command.ts'
import { type CoreOptions, type OpenCore, withCore } from './open.ts'
import { withBillingAccess } from './open-billing.ts'

/** The parts of the service, and the operations on them. */
export interface OpenOperations extends OpenCore {
  /** Billing, as the operations use it. It processes nothing in the background. */
  readonly billing: BillingAccess
  /**
   * Performs an operation in the name of the person at the terminal, and records it in the audit
   * log. `operation` is its name, or an operation of the command's own. `Output` is the JSON of the
   * operation's output schema. Operations that move money need
   * an idempotency key.
   * @throws AdminProblem
   */
  perform<Output = unknown>(
    operation: string | Operation,
    input: object,
    idempotencyKey?: string | null,
  ): Promise<Output>
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
 * application has no audit log; its entries are written to its logger or to standard error, and
 * emitted as events of its instances.
 */
export function withOperations<T>(
  context: CommandContext,
  options: OperationsOptions,
  work: (opened: OpenOperations) => Promise<T>,
): Promise<T> {
  if (context.application !== null) return withApplicationOperations(context, options, work)
  const { needsUrl = false } = options
  return withCore(context, options, (core) =>
    withBillingAccess(context, { ...core, needsUrl }, async (billing) => {
      const { database, found } = core
      const { clock } = database
      const logger = createLogger('info', process.stderr)
      const { config } = core
      const { mail } = config.settings
      const recovery = createRecovery({
        ...core,
        ...{ clock, logger, mailer: null },
        url: config.url ?? 'http://localhost',
        hasMail: config.mode === 'demo' || config.smtp !== null || mail?.send !== undefined,
      })
      const gate = found === 'service' ? await openGate(core, billing, logger) : null
      const services = createAdminServices({ ...core, clock, recovery, billing, gate })
      const audit = found === 'application' ? createLoggerAudit({ logger, clock }) : services.audit
      // These tables contain no second factors.
      const factors = { ...core.factors, reseal: async () => 0 }
      const perform = createPerform(
        context,
        { ...services, audit, ...(found === 'application' && { factors }) },
        ...(found === 'application' ? [withOwnUserIds] : []),
      )
      try {
        return await work({ ...core, billing, perform })
      } finally {
        await gate?.close()
      }
    }),
  )
}

/** The gate with the tables of billing, which it opens when it is asked for a plan. */
function openGate(
  { config: { settings }, database }: OpenCore,
  billing: BillingAccess,
  logger: Logger,
): Promise<Gate | null> {
  const findOwner: Billing['findOwner'] = async (...owner) =>
    (await billing.rows()).findOwner(...owner)
  return createServiceGate({ settings, database, logger, billing: { findOwner } })
}

/** Runs `work` with the operations on an application's own instances. */
function withApplicationOperations<T>(
  context: CommandContext,
  { alsoInApplications = false }: OperationsOptions,
  work: (opened: OpenOperations) => Promise<T>,
): Promise<T> {
  // Commands about payments check the tables of billing when they first use it.
  return withApplication(context, alsoInApplications ? ['oauth'] : [], (application) => {
    const { log, settled } = createApplicationAudit(application)
    const services = createApplicationServices(application, log)
    return work({
      ...services,
      found: 'application',
      fromRequest: async () => null,
      perform: createPerform(context, services, withOwnUserIds),
    }).finally(settled)
  })
}

function createPerform(
  { caller }: CommandContext,
  services: AdminServices,
  adapt = (operation: Operation) => operation,
): OpenOperations['perform'] {
  return async <Output>(
    named: string | Operation,
    input: object,
    idempotencyKey: string | null = null,
  ) => {
    // A command reads no version that could be stale by now.
    const call = { caller, input, ifMatch: '*', idempotencyKey }
    const operation = typeof named === 'string' ? findOperation(named) : named
    return (await execute(adapt(operation), call, services)) as Output
  }
}

function findOperation(name: string): Operation {
  return maintenanceOperations.find((each) => each.name === name) ?? requireOperation(name)
}
