// node scripts/tsc.mjs …: TypeScript 7, which builds everything here in a quarter of the time. The
// package `typescript` stays at 5.9 for its API, which our checks and Next use, and provides the
// command tsc.
import { availableParallelism } from 'node:os'

// Each checker processes the shared files again, so on two cores a single one is fastest.
const checkers = Math.min(4, Math.ceil(availableParallelism() / 2))
process.argv.push('--checkers', String(checkers))
await import('../node_modules/typescript-7/lib/tsc.js')
