import { type Compilable, type Kysely, type RawBuilder, sql } from 'kysely'
import { type Database, internalsOf, type Statement, type StatementResult } from '../database.ts'
import type { ParamBuilder } from '../definitions.ts'
import type { Query } from '../dialects/engine.ts'
import { convertCompiledQuery } from './kysely-driver.ts'

export type StatementOptions = Pick<Query, 'duplicateIsNoop' | 'followsSize'>

class Placeholder {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

interface Plan {
  readonly query: Query
  /** Placeholders for parameters, and constants written into the query. */
  readonly slots: readonly unknown[]
}

export function prepareStatement<T, Params extends object, Row>(
  database: Database<T>,
  build: (db: Kysely<T>, param: ParamBuilder<Params>) => Compilable,
  statementOptions: StatementOptions = {},
): Statement<Params, Row> {
  let plan: Plan | undefined
  return async (params, on = database) => {
    plan ??= compile(build(database.kysely, placeholder), statementOptions)
    const result = await internalsOf(on).run(plan.query, fillPlaceholders(plan.slots, params))
    return result as StatementResult<Row>
  }
}

function placeholder<Value>(name: string): RawBuilder<Value> {
  return sql.val<Value>(new Placeholder(name) as Value)
}

function compile(compilable: Compilable, how: StatementOptions): Plan {
  const compiled = compilable.compile()
  const query = { ...convertCompiledQuery(compiled), ...how, name: nameOf(compiled.sql) }
  return { query, slots: compiled.parameters }
}

function fillPlaceholders(slots: readonly unknown[], params: object): unknown[] {
  const values = new Array<unknown>(slots.length)
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i]
    values[i] = slot instanceof Placeholder ? read(params, slot.name) : slot
  }
  return values
}

function read(params: object, name: string): unknown {
  const value = (params as Record<string, unknown>)[name]
  if (value === undefined) throw new TypeError(`The statement needs a value for "${name}"`)
  return value
}

const names = new Map<string, string>()

/**
 * Name of a prepared statement. Equal SQL gets an equal name, so that a connection prepares it
 * once.
 */
function nameOf(text: string): string {
  let name = names.get(text)
  if (name === undefined) {
    name = `tollgate_${names.size + 1}`
    names.set(text, name)
  }
  return name
}
