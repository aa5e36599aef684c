import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { joinIntoChunks } from '../src/core/store/lines.ts'
import {
  loadStateFile,
  serializeStateLines,
  streamState,
  writeStateFile,
} from '../src/core/store/state-file.ts'
import { SandboxStore } from '../src/core/store/store.ts'
import { type SandboxSnapshot, startSandbox } from '../src/index.ts'

const NOW = new Date('2026-01-31T10:00:00Z')

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-state-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A state whose JSON has the given length, made of rows that share one text. */
function storeOf(rows: number, textLength: number): SandboxStore {
  const store = new SandboxStore(7)
  const text = 'x'.repeat(textLength)
  const table = store.table<{ text: string }>('big')
  for (let at = 0; at < rows; at++) table.set(`row_${at}`, { text })
  store.table<object>('empty')
  store.nextNumber('orders')
  return store
}

it('the state file is written without holding more than one row and one chunk of it in memory as text', () => {
  const chunk = 10_000
  const store = storeOf(500, 1000)
  const lines = [...serializeStateLines(NOW, store)]
  expect(lines).toHaveLength(502)
  const longest = Math.max(...lines.map((line) => line.length))
  expect(longest).toBeLessThan(1200)
  const chunks = [...joinIntoChunks(lines, chunk)]
  for (const each of chunks) expect(each.length).toBeLessThan(chunk + longest + 1)
  expect(Buffer.concat(chunks).toString()).toBe(`${lines.join('\n')}\n`)
})

it('the state file is read back with all rows in order', async () => {
  const file = join(await temporaryFolder(), 'state.json')
  const store = storeOf(300, 100)
  const table = store.table<{ text: string }>('words')
  for (const text of ['naïve\n\u2028 \\ "', '漢字', '💳', '']) table.set(text, { text })
  writeStateFile(file, serializeStateLines(NOW, store), 64)
  const again = new SandboxStore()
  const read = await loadStateFile(file, again)
  expect(read?.now).toEqual(NOW)
  expect([...serializeStateLines(NOW, again)]).toEqual([...serializeStateLines(NOW, store)])
  expect((await stat(file)).mode & 0o077).toBe(0)
})

it('the state is exported as it was when the request arrived, whatever changes in the meantime', async () => {
  const store = storeOf(5000, 1000)
  const lines = [...serializeStateLines(NOW, store)]
  const folder = await temporaryFolder()
  vi.stubEnv('TMPDIR', folder)
  onTestFinished(() => void vi.unstubAllEnvs())
  const stream = streamState(serializeStateLines(NOW, store))
  store.table<{ text: string }>('big').clear()
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  expect(chunks.length).toBeGreaterThan(10)
  expect(Buffer.concat(chunks).toString() === `${lines.join('\n')}\n`).toBe(true)
  expect(await readdir(folder)).toEqual([])
})

it.each([
  [
    'an older format',
    '{"version":2,"now":"2026-01-31T10:00:00.000Z","seed":1}\n{"rows":0}\n',
    'of format 2',
  ],
  [
    'a later format',
    '{"version":4,"now":"2026-01-31T10:00:00.000Z","seed":1}\n{"rows":0}\n',
    'of format 4',
  ],
  ['the first format', '{"version":1,"now":"2026-01-31T10:00:00.000Z","store":{}}', 'of format 1'],
  ['no format', '{"now":"2026-01-31T10:00:00.000Z"}', 'is not a state file'],
])('a state file of %s is rejected and not changed', async (_what, text, said) => {
  const folder = await temporaryFolder()
  const file = join(folder, 'state.json')
  await writeFile(file, text)
  const start = startSandbox({ stripe: true, stateFile: file })
  await expect(start).rejects.toThrow(TypeError)
  await expect(start).rejects.toThrow(`${file} is`)
  await expect(start).rejects.toThrow(said)
  await expect(start).rejects.toThrow(
    `Use another file, or move this one away together with its journals (${file}.journal-N) to start from scratch.`,
  )
  expect(await readFile(file, 'utf8')).toBe(text)
  expect(await readdir(folder)).toEqual(['state.json'])
})

it('the sandbox refuses to start if there is a journal whose state file was moved away', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'state.json')
  const journal = `${file}.journal-5`
  const text = `{"now":"${NOW.toISOString()}","seed":1,"drawn":0,"counters":{},"rows":0}\n`
  await writeFile(journal, text)
  const { snapshot } = await startSandbox({ stripe: true, now: NOW }).then(async (other) => {
    await other.close()
    return { snapshot: other.snapshot() }
  })
  for (const options of [{ stripe: true }, { stripe: true, snapshot }]) {
    const start = startSandbox({ ...options, stateFile: file })
    await expect(start).rejects.toThrow(`The state file ${file} does not exist, but`)
    await expect(start).rejects.toThrow(journal)
  }
  expect(await readdir(folder)).toEqual(['state.json.journal-5'])
  expect(await readFile(journal, 'utf8')).toBe(text)
})

it('the sandbox rejects a snapshot of another format, both at start-up and in restore()', async () => {
  const sandbox = await startSandbox({ stripe: true, now: NOW })
  onTestFinished(() => sandbox.close())
  const old = { ...sandbox.snapshot(), version: 1 } as unknown as SandboxSnapshot
  expect(() => sandbox.restore(old)).toThrow(/has format 1, .* reads only format 3: take a new one/)
  await expect(startSandbox({ stripe: true, snapshot: old })).rejects.toThrow('has format 1')
})

it('the old state file stays unchanged if the new one cannot be written', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'state.json')
  writeStateFile(file, serializeStateLines(NOW, storeOf(3, 10)))
  const before = await readFile(file, 'utf8')
  const failing = function* () {
    yield* serializeStateLines(NOW, storeOf(1000, 1000))
    throw new Error('no space left on device')
  }
  expect(() => writeStateFile(file, failing(), 100)).toThrow(
    /could not be written to .*state\.json: no space left on device.*unchanged/,
  )
  expect(await readFile(file, 'utf8')).toBe(before)
  expect(await readdir(folder)).toEqual(['state.json'])
})

it('the sandbox reports at start-up that the state file cannot be written, and in close() that the state was not saved', async () => {
  const folder = await temporaryFolder()
  const nowhere = join(folder, 'missing', 'state.json')
  await expect(startSandbox({ stripe: true, now: NOW, stateFile: nowhere })).rejects.toThrow(
    /its folder must exist and be writable/,
  )
  await mkdir(join(folder, 'state'))
  const file = join(folder, 'state', 'state.json')
  const sandbox = await startSandbox({ stripe: true, now: NOW, stateFile: file })
  await sandbox.save()
  const before = await readFile(file, 'utf8')
  // A folder has the name of the temporary file.
  await mkdir(`${file}.new`)
  await chmod(`${file}.new`, 0o700)
  await expect(sandbox.close()).rejects.toThrow(/could not be written to/)
  expect(await readFile(file, 'utf8')).toBe(before)
})

it('a truncated state file is rejected, and no sandbox starts with half of the state', async () => {
  const file = join(await temporaryFolder(), 'state.json')
  writeStateFile(file, serializeStateLines(NOW, storeOf(20, 10)))
  const whole = await readFile(file, 'utf8')
  for (const length of [whole.length - 12, Math.floor(whole.length / 2), 40]) {
    await writeFile(file, whole.slice(0, length))
    await expect(startSandbox({ stripe: true, stateFile: file })).rejects.toThrow(
      /truncated or damaged|not a state file/,
    )
  }
})
