/** How a page at the provider says whose it is. */
export function ownerOf(userId: string | number): string {
  return `user:${userId}`
}
