import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { INIT_LOCK_FILE, runExclusively } from './lock.ts'

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

describe('runExclusively(), which lets one process at a time work in a folder,', () => {
  it('rejects a second process while the first one works, and accepts it afterwards', async () => {
    const folder = createFolder()
    let finish = () => {}
    const first = runExclusively(folder, () => new Promise<void>((resolve) => (finish = resolve)))
    await expect(runExclusively(folder, async () => 'second')).rejects.toThrow(
      `Another tollgate init (process ${process.pid}) works in ${folder}`,
    )
    finish()
    await first
    expect(await runExclusively(folder, async () => 'second')).toBe('second')
    expect(existsSync(join(folder, INIT_LOCK_FILE))).toBe(false)
  })

  it('takes over from a process that was killed', async () => {
    const folder = createFolder()
    const { pid } = spawnSync(process.execPath, ['-e', ''])
    writeFileSync(join(folder, INIT_LOCK_FILE), String(pid))
    expect(await runExclusively(folder, async () => 'done')).toBe('done')
  })

  it('lets another process work after a failure', async () => {
    const folder = createFolder()
    const failing = runExclusively(folder, () => Promise.reject(new Error('broken')))
    await expect(failing).rejects.toThrow('broken')
    expect(existsSync(join(folder, INIT_LOCK_FILE))).toBe(false)
  })

  it('fails for a folder that cannot be written to', async () => {
    const folder = join(createFolder(), 'missing')
    await expect(runExclusively(folder, async () => {})).rejects.toThrow(
      `Nothing can be written to ${folder}`,
    )
  })
})
