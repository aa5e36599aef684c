import { handlers } from '@/lib/tollgate'

export const { GET, POST, PUT, PATCH, DELETE } = handlers
