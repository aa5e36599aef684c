import { open } from 'node:fs/promises'
import { type Command, UsageError } from '../command.ts'
import { CONTROL_PORT_FLAG, downloadState } from '../control-client.ts'

export const exportState: Command = {
  summary: 'writes everything a running sandbox knows to a file',
  usage: 'FILE',
  mostWords: 1,
  flags: CONTROL_PORT_FLAG,
  notes: `
tollgate-sandbox --state FILE starts another sandbox from it. A file that exists is not written over;
"-" writes to standard output. Webhook secrets are in it: only you can read the file.`,
  async run(input, { stdout }) {
    const [file] = input.words
    if (file === undefined) {
      throw new UsageError('Name a file: tollgate-sandbox export copy.json, or - for the terminal')
    }
    const body = await downloadState(input)
    if (file === '-') {
      const decoder = new TextDecoder()
      for await (const chunk of body) stdout.write(decoder.decode(chunk, { stream: true }))
      return
    }
    const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST')
        throw new UsageError(`${file} exists. Name another, or remove it.`)
      throw error
    })
    try {
      for await (const chunk of body) await handle.write(chunk)
      const { size } = await handle.stat()
      stdout.write(`${size} bytes in ${file}. Start from it: tollgate-sandbox --state ${file}\n`)
    } finally {
      await handle.close()
    }
  },
}
