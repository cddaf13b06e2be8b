# SPDX-License-Identifier: GPL-2.0-only
# Comparisons that need packages of their own (libpmem-dev): none of them is a
# dependency of the product.
.PHONY: bench-peers

bench-peers: $(B)/bench/peers
	$(B)/bench/peers $(ARGS)

$(B)/bench/peers: bench/peers.c $(filter-out $(B)/tools/clearpages.o,$(TOOL_O)) $(B)/libclearpages.a
	@mkdir -p $(@D)
	@$(PKG_CONFIG) --exists libpmem || { echo "bench-peers: libpmem is missing:" \
		"apt-get install libpmem-dev" >&2; exit 1; }
	$(CC) $(ALL_CFLAGS) -Iinclude $(TOOL_CFLAGS) -o $@ $^ $(ALL_LDFLAGS) $(TOOL_LIBS) \
		$$($(PKG_CONFIG) --libs libpmem)
