import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { bundleChild } from '../../../../test-support/bundle-child.ts'

const script = fileURLToPath(new URL('./missing-package-child.mjs', import.meta.url))
const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url))

it('names the package to install if the option redis is given without rate-limiter-flexible', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-packages-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(dirname(await bundleChild(script)), join(folder, 'app'), { recursive: true })
  // An application that has installed SQLite and nothing else.
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(join(modules, 'libsql'), join(folder, 'node_modules/libsql'))
  const output = execFileSync(process.execPath, [join(folder, 'app/child.mjs')], {
    encoding: 'utf8',
  })
  expect(JSON.parse(output)).toEqual({
    code: 'TOLLGATE_MISSING_PACKAGE',
    message:
      'The option redis of the gate needs the package "rate-limiter-flexible": run npm install rate-limiter-flexible',
  })
})
