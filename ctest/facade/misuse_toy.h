/* A good handle of the made-up API, for its generated misuse test. */
static inline toy_context make_toy_context(void)
{
	toy_context context = 0;
	toy_open(&context, "ours");
	return context;
}

static inline void drop_toy_context(toy_context context) { toy_close(context); }

static inline toy_list *make_toy_list(void) { return toy_list_make(); }

static inline void drop_toy_list(toy_list *list) { toy_list_free(list); }
