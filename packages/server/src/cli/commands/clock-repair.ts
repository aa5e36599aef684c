import { hasTable } from '@tollgate/database'
import { type Command, UsageError } from '../command.ts'
import { withDatabase } from '../open.ts'

export const clockRepair: Command = {
  summary: "take the database's present time for right, although a later one is recorded",
  async run(_input, context) {
    const config = await context.config([])
    return withDatabase(config, async (database) => {
      if (!(await hasTable(database, 'tollgate_clock'))) {
        throw new UsageError('No time is recorded in this database; is DATABASE_URL the right one?')
      }
      const { before, now } = await database.clock.repair()
      const recorded = before === null ? 'No time was recorded' : `Recorded was ${show(before)}`
      return {
        json: { before: before?.toISOString() ?? null, now: now.toISOString() },
        text: `${recorded}. From now on it is ${show(now)}, as the database's clock says; running processes follow within seconds.\n${AFTERWARDS}`,
      }
    })
  },
}

const AFTERWARDS = `Tokens that were issued while the clock was ahead live longer by that much. If that is too long,
end them: tollgate restore-finish`

const show = (time: Date) => time.toISOString()
