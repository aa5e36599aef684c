/** A source with a mistake in it, as `npm run mutants` has it tried. */
interface Mutant {
  readonly source: string
  readonly text: string
}

/**
 * Has vitest take `globalThis.mutant` in the place of its source, which stays as it is on the disk. A global, because vite bundles its
 * configuration: a module that it imports exists twice.
 */
export const mutantPlugin = {
  name: 'mutant',
  enforce: 'pre' as const,
  load(id: string): string | null {
    const { mutant } = globalThis as { mutant?: Mutant }
    return mutant && id.split('?')[0] === mutant.source ? mutant.text : null
  },
}
