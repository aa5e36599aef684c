import { type Database, upsert } from '@tollgate/database'
import type { PlanOptions } from '../plans/plan.ts'
import { type GateTables, overrideTable } from './tables.ts'

/** An exception for one subject. */
export interface Override {
  /** Name of a plan that replaces the plan of the subject. */
  readonly plan?: string
  /** Terms that replace those of the plan, such as a larger quota. */
  readonly terms?: Pick<PlanOptions, 'scopes' | 'features' | 'quota' | 'rate'>
  /** When the override ends. `null` for never. @default null */
  readonly endsAt?: Date | null
}

/** Stores the overrides of subjects. */
export interface Overrides {
  find(subject: string): Promise<Override | null>
  save(subject: string, override: Override, at: Date, on: Database): Promise<void>
  remove(subject: string, on: Database): Promise<boolean>
}

export function createOverrides(connected: Database): Overrides {
  const database: Database<GateTables> = connected
  return {
    async find(subject) {
      const row = await database.kysely
        .selectFrom('gate_overrides')
        .selectAll()
        .where('subject', '=', subject)
        .executeTakeFirst()
      if (!row) return null
      const { terms, endsAt } = overrideTable.fromRow(row)
      return { ...(terms as Omit<Override, 'endsAt'>), endsAt }
    },
    async save(subject, { endsAt = null, ...terms }, at, on) {
      const row = overrideTable.toRow({ subject, terms, endsAt, createdAt: at })
      await upsert(on, 'gate_overrides', row, ['subject'])
    },
    async remove(subject, on) {
      const { numDeletedRows } = await on.kysely
        .deleteFrom('gate_overrides')
        .where('subject', '=', subject)
        .executeTakeFirst()
      return Number(numDeletedRows) > 0
    },
  }
}
