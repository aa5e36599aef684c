import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { lockStateFile } from '../src/core/store/state-lock.ts'
import { startSandbox } from '../src/index.ts'

async function stateFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-lock-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'state.json')
}

/** Replaces this process's lock by another one. */
async function replaceLock(file: string, change: object): Promise<void> {
  const own = await lockStateFile(file)
  const owner = JSON.parse(await readFile(`${file}.lock`, 'utf8')) as object
  own.release()
  await writeFile(`${file}.lock`, JSON.stringify({ ...owner, id: 'other', ...change }))
}

it('the lock of a state file makes a second sandbox fail until the first one is closed', async () => {
  const file = await stateFile()
  const first = await startSandbox({ stripe: true, stateFile: file })
  await expect(startSandbox({ stripe: true, stateFile: file })).rejects.toThrow(
    `The state file ${file} is in use by another sandbox (process ${process.pid} on `,
  )
  await first.close()
  const second = await startSandbox({ stripe: true, stateFile: file })
  await second.close()
  expect(await readdir(dirname(file))).toEqual(['state.json'])
})

it('the sandbox writes nothing to a state file after it is closed', async () => {
  const file = await stateFile()
  const first = await startSandbox({ stripe: true, stateFile: file })
  await first.close()
  const second = await startSandbox({ stripe: true, stateFile: file })
  second.stripe.seedPrice({ id: 'gold', unitAmount: 1000, interval: 'month' })
  await second.save()
  const saved = await readFile(file, 'utf8')
  await first.save()
  await first.close()
  expect(await readFile(file, 'utf8')).toBe(saved)
  await second.close()
})

it('the lock of a state file is removed if the sandbox cannot start', async () => {
  const file = await stateFile()
  await writeFile(file, 'no state')
  await expect(startSandbox({ stripe: true, stateFile: file })).rejects.toThrow('not a state file')
  expect(await readdir(dirname(file))).toEqual(['state.json'])
})

it('the lock of a state file can be taken over from a killed process', async () => {
  const file = await stateFile()
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  await once(child, 'spawn')
  await replaceLock(file, { pid: child.pid, started: null })
  child.kill('SIGKILL')
  await once(child, 'exit')
  const lock = await lockStateFile(file)
  lock.release()
  expect(await readdir(dirname(file))).toEqual([])
})

it('the lock of a state file can be taken over from a killed process even if another process now has its process id', async () => {
  const file = await stateFile()
  await replaceLock(file, { started: 'long ago' })
  const lock = await lockStateFile(file)
  lock.release()
})

it('the sandbox can start from a copy of a state file that was made while its sandbox was running', async () => {
  const file = await stateFile()
  const copy = await stateFile()
  const first = await startSandbox({ stripe: true, stateFile: file })
  await cp(dirname(file), dirname(copy), { recursive: true })
  const second = await startSandbox({ stripe: true, stateFile: copy })
  await second.close()
  await first.close()
})

it.each([
  ['by a machine that is gone', { place: 'elsewhere' }],
  ['half written', null],
])(
  'the lock of a state file that was left %s can be taken over once its heartbeat has stopped',
  async (_how, change) => {
    const file = await stateFile()
    if (change) await replaceLock(file, change)
    else await writeFile(`${file}.lock`, '{"id":')
    const lock = await lockStateFile(file, { silence: 300, unwritten: 300 })
    lock.release()
  },
)

it('the lock of a state file is respected while a process on another machine updates its heartbeat', async () => {
  const file = await stateFile()
  await replaceLock(file, { place: 'elsewhere', pid: 7 })
  const beat = setInterval(() => void utimes(`${file}.lock`, new Date(), new Date()), 50)
  onTestFinished(() => clearInterval(beat))
  await expect(lockStateFile(file)).rejects.toThrow('process 7 on elsewhere')
})

it('the lock of a state file that was abandoned is given to only one of several processes', async () => {
  const file = await stateFile()
  await replaceLock(file, { started: 'long ago' })
  const wanted = await Promise.allSettled(Array.from({ length: 8 }, () => lockStateFile(file)))
  expect(wanted.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})
