import { type CliCommand, readTextFlag, UsageError } from '../command.ts'
import { CONTROL_FLAGS, postToControlRoom } from '../control-client.ts'
import { parseDuration } from '../parse-duration.ts'

interface Advanced {
  readonly now: string
  readonly happened: Readonly<Record<string, number>>
  readonly failedJobs: number
}

export const advanceCommand: CliCommand = {
  summary: 'moves the clock forward, and runs everything that falls due until then',
  usage: 'DURATION | --to DATE',
  maxWords: 1,
  flags: {
    to: {
      value: '<date>',
      help: 'target time instead of a duration: 2026-03-01, or 2026-03-01T10:00:00Z',
    },
    clock: { value: '<id>', help: "Stripe test clock to move instead of the sandbox's own clock" },
    ...CONTROL_FLAGS,
  },
  notes: `
DURATION is a number and a unit: 12h, 3d, 2w, 1month, 1y, 90min, or several: "1month 1h".
Stripe keeps the invoice of a renewal as a draft for an hour before it charges it, so advance by
"1month 1h" to see it paid.`,
  async run(input, { stdout }) {
    const to = readTextFlag(input, 'to')
    const [by] = input.words
    if ((to === null) === (by === undefined)) {
      throw new UsageError(
        'Give a duration or a date: tollgate-sandbox advance 1month, or tollgate-sandbox advance --to 2026-03-01',
      )
    }
    const clock = readTextFlag(input, 'clock')
    const target = to === null ? parseDuration(by ?? '') : { date: parseDay(to) }
    const form = clock === null ? target : { ...target, clock }
    const path = to === null ? '/advance' : '/advance-to'
    const moved = await postToControlRoom<Advanced>(input, path, form)
    if (input.flags.json === true) {
      stdout.write(`${JSON.stringify(moved)}\n`)
      return
    }
    const happened = Object.entries(moved.happened).map(
      ([type, count]) => `${String(count).padStart(6)}  ${type}\n`,
    )
    stdout.write(`It is now ${moved.now}.\n`)
    if (happened.length > 0) stdout.write(`Events:\n${happened.join('')}`)
    if (moved.failedJobs > 0) {
      stdout.write(`${moved.failedJobs} due jobs failed. The control room shows their errors.\n`)
    }
  },
}

function parseDay(text: string): string {
  const date = new Date(text)
  if (!Number.isNaN(date.getTime())) return date.toISOString()
  throw new UsageError(`--to takes a date such as 2026-03-01 or 2026-03-01T10:00:00Z, not ${text}`)
}
