/** Kysely's own way to say that tables and columns are known only by name. */
// biome-ignore lint/suspicious/noExplicitAny: the one place where it is meant
export type AnyTables = any
