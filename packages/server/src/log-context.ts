import { AsyncLocalStorage } from 'node:async_hooks'

/** Fields of the log lines that are written during a piece of work. */
export type LogFields = Readonly<Record<string, string | null>>

interface LogContext {
  readonly fields: LogFields
  isOver: boolean
}

const current = new AsyncLocalStorage<LogContext>()

/**
 * Runs `work`, and adds the fields to every line that is logged until it is done. Timers and
 * connections that it leaves behind do not keep the fields: they serve later requests, too.
 */
export async function withLogFields<Result>(
  fields: LogFields,
  work: () => Promise<Result>,
): Promise<Result> {
  const context: LogContext = { fields, isOver: false }
  try {
    return await current.run(context, work)
  } finally {
    context.isOver = true
  }
}

/** Returns a new object with the fields of the present work. */
export function getLogFields(): Record<string, string | null> {
  const context = current.getStore()
  return context && !context.isOver ? { ...context.fields } : {}
}
