import { open } from 'node:fs/promises'
import { type CliCommand, UsageError } from '../command.ts'
import { CONTROL_PORT_FLAG, downloadState } from '../control-client.ts'

export const exportCommand: CliCommand = {
  summary: 'writes the whole state of a running sandbox to a file',
  usage: 'FILE',
  maxWords: 1,
  flags: CONTROL_PORT_FLAG,
  notes: `
Start another sandbox from the copy with tollgate-sandbox --state FILE. Existing files are never
overwritten; "-" writes to standard output. The file contains webhook secrets, so only you can read it.`,
  async run(input, { stdout }) {
    const [file] = input.words
    if (file === undefined) {
      throw new UsageError(
        'Name a file: tollgate-sandbox export copy.json, or - for standard output',
      )
    }
    const body = await downloadState(input)
    if (file === '-') {
      const decoder = new TextDecoder()
      for await (const chunk of body) stdout.write(decoder.decode(chunk, { stream: true }))
      return
    }
    const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST')
        throw new UsageError(`${file} already exists. Choose another name, or remove the file.`)
      throw error
    })
    try {
      for await (const chunk of body) await handle.write(chunk)
      const { size } = await handle.stat()
      stdout.write(
        `Wrote ${size} bytes to ${file}. Start a sandbox from it: tollgate-sandbox --state ${file}\n`,
      )
    } finally {
      await handle.close()
    }
  },
}
