// @hono/node-server replaces these two globals for the whole process, which several test files
// share. The replacement fails `instanceof Response` for results of fetch(), so each file restores
// Node's own.
const ORIGINALS = Symbol.for('tollgate.originals')
const shared = globalThis as { [ORIGINALS]?: Pick<typeof globalThis, 'Request' | 'Response'> }

shared[ORIGINALS] ??= { Request, Response }
Object.assign(globalThis, shared[ORIGINALS])
