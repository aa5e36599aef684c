import type { CliCommand } from '../command.ts'
import { CONTROL_FLAGS, postToControlRoom } from '../control-client.ts'

export const resetCommand: CliCommand = {
  summary: 'deletes everything in a running sandbox and sets its clock back to its start time',
  usage: '',
  maxWords: 0,
  flags: CONTROL_FLAGS,
  notes: `
The sandbox then applies its seed file again and registers its webhook URLs with the same secrets.
This cannot be undone: export first what you want to keep.`,
  async run(input, { stdout }) {
    const done = await postToControlRoom<{ readonly now: string }>(input, '/reset', {})
    const text = `The sandbox is back in its initial state. It is now ${done.now}.`
    stdout.write(input.flags.json === true ? `${JSON.stringify(done)}\n` : `${text}\n`)
  },
}
