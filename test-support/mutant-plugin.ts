/** A source with one deliberate mistake, which `npm run mutants` tests. */
interface Mutant {
  readonly source: string
  readonly text: string
}

/**
 * Makes vitest load `globalThis.mutant` instead of its source, which stays unchanged on disk. It is
 * a global because vite bundles its configuration, so that imported modules exist twice.
 */
export const mutantPlugin = {
  name: 'mutant',
  enforce: 'pre' as const,
  load(id: string): string | null {
    const { mutant } = globalThis as { mutant?: Mutant }
    return mutant && id.split('?')[0] === mutant.source ? mutant.text : null
  },
}
