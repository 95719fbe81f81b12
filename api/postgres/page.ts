/** A page of a v2 list, newest first: the entries after (older than) the one with this id. */
export interface Page {
  after?: string;
  perPage: number;
}
