import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { isSecretVariable } from './sign-in-with.ts'
import { variables } from './variables.ts'

const SRC = fileURLToPath(new URL('..', import.meta.url))
const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(SRC, file), 'utf8') }))

describe('environment variables', () => {
  it('are read only by the code in config/, which gets them from main.ts', () => {
    const reading =
      /\bprocess\s*\.\s*env\b|\benv(ironment)?(\?\.|\.|\[)\s*['"`]?[A-Z]{2}|\benvironment\[|\}\s*=\s*env|import\.meta\.env/
    for (const code of [
      "environment['PORT']",
      'env?.HOST',
      'const { PORT } = env',
      'environment[name]',
    ]) {
      expect(code).toMatch(reading)
    }
    const readers = sources.filter(({ text }) =>
      // Comments show how to pass the environment on.
      reading.test(text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')),
    )
    // The files that `tollgate init` writes read the environment of the application.
    const allowed = /^(config|cli\/init)\//
    const elsewhere = readers.map(({ file }) => file).filter((file) => !allowed.test(file))
    expect(elsewhere).toEqual(['main.ts'])
  })

  it('are all listed in the table of settings if any code mentions them', () => {
    const named = sources.flatMap(({ text }) =>
      [...text.matchAll(/\bTOLLGATE_[A-Z0-9_]+\b(?!\*)/g)].map(([name]) => name),
    )
    // Each provider of the setting signInWith has a variable, so the table cannot list them.
    const isOfProvider = (name: string) => isSecretVariable(name) || name === 'TOLLGATE_SIGN_IN_'
    const unknown = [...new Set(named)].filter(
      (name) => !variables.has(name) && !isOfProvider(name),
    )
    expect(unknown).toEqual([])
  })
})
