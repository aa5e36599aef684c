import type { Command } from '../command.ts'
import { CONTROL_FLAGS, postToControlRoom } from '../control-client.ts'

export const reset: Command = {
  summary: 'empties a running sandbox and puts its clock back to the beginning',
  usage: '',
  mostWords: 0,
  flags: CONTROL_FLAGS,
  notes: `
What the sandbox was started with stays: the seed file is applied again, and the webhook addresses
are registered with the same secrets. There is no way back: export first what you want to keep.`,
  async run(input, { stdout }) {
    const done = await postToControlRoom<{ readonly now: string }>(input, '/reset', {})
    const text = `Everything is as it was in the beginning. It is now ${done.now}.`
    stdout.write(input.flags.json === true ? `${JSON.stringify(done)}\n` : `${text}\n`)
  },
}
