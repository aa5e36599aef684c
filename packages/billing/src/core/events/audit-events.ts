import type { Logger } from '../values/logger.ts'

/** A change that an operator made, or tried to make, with the command line. */
export interface AuditEntry {
  /** Id of the entry, to which the `intentId` of a later entry may refer. */
  readonly id: string
  /** When the entry was written. */
  readonly at: Date
  /** The person or script: `id` is the name given with `--as`. */
  readonly actor: { readonly kind: string; readonly id: string }
  /** Name of the operation, such as `billing.refund`. */
  readonly operation: string
  /**
   * Outcome of the operation. `started`: recorded before a request to a provider. A later entry
   * with the outcome `done` or `failed` has the id of the `started` entry in `intentId`. As long as
   * no later entry exists, the outcome is unknown.
   */
  readonly outcome: 'done' | 'started' | 'failed' | 'refused'
  /** The changed object. `null` if there is none. */
  readonly subject: { readonly kind: string; readonly id: string } | null
  /** Id of the user whom the changed object belongs to. `null` if there is none. */
  readonly ownerId: string | null
  /** Further facts, without secrets and personal data. */
  readonly details: Readonly<Record<string, unknown>>
  /** Id of the `started` entry whose outcome this is. `null` for all other entries. */
  readonly intentId: string | null
}

/** Events about changes by operators. They are not stored, unlike the events of the option `on`. */
export interface AuditEvents {
  /**
   * Adds a listener that is called after an operator changed something with `tollgate --config`, or
   * was refused. The command waits for the listeners before it ends. Returns a function that removes
   * the listener.
   * @example
   * billing.events.on('audit.entry', ({ actor, operation }) => log(`${actor.id}: ${operation}`))
   */
  on(name: 'audit.entry', listener: (entry: AuditEntry) => unknown): () => void
  /**
   * Calls the listeners of `audit.entry`, and resolves when all have finished. The command line
   * calls it. Call it for changes that operators make in your application, if the same listeners
   * should record them. Errors of listeners are logged, not thrown.
   */
  audit(entry: AuditEntry): Promise<void>
}

export function createAuditEvents(logger: Logger): AuditEvents {
  const listeners = new Set<(entry: AuditEntry) => unknown>()
  return {
    on(_name, listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async audit(entry) {
      const calls = [...listeners].map(async (listener) => {
        try {
          await listener(entry)
        } catch (error) {
          logger.error('A listener of audit.entry failed', error)
        }
      })
      await Promise.all(calls)
    },
  }
}
