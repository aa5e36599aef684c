import type { StatementRecord } from '../database.ts'
import type { Query, Runner } from '../dialects/engine.ts'
import type { TransactionRunner } from './transaction.ts'

export function createStatementRecord(): StatementRecord {
  const statements: string[] = []
  return {
    tables: new Map(),
    add: (statement) => void statements.push(statement),
    take: () => statements.splice(0),
  }
}

/** Creates a runner that reads from the database, and records every other statement. */
export function createRecordingRunner(runner: Runner, record: StatementRecord): TransactionRunner {
  return {
    async run(query, values) {
      if (isReading(query)) return runner.run(query, values)
      record.add(writeValues(query.sql, values))
      return { rows: [], affected: 0 }
    },
    lock: async () => {},
  }
}

function isReading({ sql, readOnly = false }: Query): boolean {
  return readOnly || /^\s*(?:select|show)\s|^\s*pragma\s+\w+\s*$/i.test(sql)
}

const QUOTED_OR_PLACEHOLDER = /'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\?|\$(\d+)/g

/** Writes the values into the statement, in place of the placeholders of any dialect. */
function writeValues(sql: string, values: readonly unknown[]): string {
  let next = 0
  return sql
    .replace(QUOTED_OR_PLACEHOLDER, (part, number?: string) => {
      if (number !== undefined) return literal(values[Number(number) - 1])
      return part === '?' ? literal(values[next++]) : part
    })
    .replace(/\s+/g, ' ')
    .trim()
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  return `'${String(value).replaceAll("'", "''")}'`
}
